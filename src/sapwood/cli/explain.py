"""`sapwood explain`: why a model predicts what it predicts, for one row of a data file or for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sapwood.cli.console import say, show_table
from sapwood.cli.options import DelimiterOption, DropOption, EncodingOption, TracebackOption
from sapwood.errors import InputError, ParameterError

_MOST_ROWS = 1000  # explained of a file, without --row
_BACKGROUND = 100  # rows that stand for the training rows, where a model needs some


def explain(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    data: Annotated[Path, typer.Option("--input", help="CSV or Parquet file with the rows to explain.")],
    row: Annotated[
        int | None,
        typer.Option("--row", min=0, metavar="N", help="Row to explain; the first is 0. Without it: all rows."),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Columns and trees to show.")] = 10,
    change: Annotated[
        bool, typer.Option("--change/--no-change", help="Look for the smallest change that changes the prediction.")
    ] = True,
    drop: DropOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    _traceback: TracebackOption = False,
) -> None:
    """Explain the predictions of a model: of one row its path, Shapley values and the smallest change that matters."""
    from sapwood.cli.layout import Layout
    from sapwood.cli.model_rows import model_rows
    from sapwood.cli.saved_model import read_model

    saved = read_model(model)
    estimator, rows = saved.estimator, model_rows(saved, data, Layout(delimiter, encoding), drop or ())
    if row is None:
        _explain_all(estimator, rows, most)
        return
    if row >= rows.num_rows:
        raise ParameterError(f"--row {row} is not in {str(data)!r}, which has the rows 0 to {rows.num_rows - 1}.")
    _explain_one(estimator, rows, row, most)
    if change:
        _show_change(estimator, rows, row)


def _explain_all(estimator: Any, rows: Any, most: int) -> None:
    from sapwood.cli.report import number
    from sapwood.explain import importance
    from sapwood.show.names import one_line

    few = rows.slice(0, _MOST_ROWS)
    sizes = _shapley(estimator, few, rows).mean_abs().reshape(estimator.schema_.n_features, -1).sum(axis=1)
    structure = importance(estimator)
    gain = dict(zip(structure.names, structure["gain"], strict=True))
    splits = dict(zip(structure.names, structure["splits"], strict=True))
    order = sorted(range(len(sizes)), key=lambda j: -sizes[j])[:most]
    names = [estimator.schema_.names[j] for j in order]
    cells = [
        [one_line(name), number(sizes[j]), number(gain[name]), str(int(splits[name]))]
        for name, j in zip(names, order, strict=True)
    ]
    of_all = "" if few.num_rows == rows.num_rows else f" (the first of {rows.num_rows})"
    title = f"What matters, by the mean size of Shapley values of {few.num_rows} rows{of_all}"
    show_table(title, ["column", "mean |Shapley value|", "gain", "splits"], cells)


def _explain_one(estimator: Any, rows: Any, row: int, most: int) -> None:
    from sapwood.explain import decision_path

    one = rows.slice(row, 1)
    say(str(decision_path(estimator, one, most=most)))
    found = _shapley(estimator, one, rows)
    wanted = _predicted_output(found, estimator.predict(one)[0])
    _show_shapley(found.for_output(wanted), most)


def _shapley(estimator: Any, rows: Any, others: Any) -> Any:
    """Shapley values; a model whose prediction is not a sum compares with other rows of the file."""
    from sapwood.explain import shap_values

    needs_background = estimator._median_weights() is not None
    return shap_values(estimator, rows, background=others.slice(0, _BACKGROUND) if needs_background else None)


def _predicted_output(found: Any, prediction: Any) -> Any:
    """The output that a prediction is about: its class where each has a score, and the only one otherwise."""
    return prediction if prediction in found.output_names else found.output_names[0]


def _show_shapley(found: Any, most: int) -> None:
    from sapwood.cli.report import number
    from sapwood.show.names import one_line

    effects = found.values[0]
    order = sorted(range(len(effects)), key=lambda j: -abs(effects[j]))
    cells = [
        [one_line(found.feature_names[j]), one_line(str(found.data[0, j])), f"{effects[j]:+.4g}"] for j in order[:most]
    ]
    if len(order) > most:
        cells.append([f"{len(order) - most} others", "", f"{effects[order[most:]].sum():+.4g}"])
    base = float(found.base_values[0])
    title = (
        f"Shapley values of the score of {one_line(str(found.output_names[0]))}: from {number(base)}, the mean, "
        f"to {number(base + float(effects.sum()))}"
    )
    show_table(title, ["column", "value", "effect"], cells, n_names=2)


def _show_change(estimator: Any, rows: Any, row: int) -> None:
    """The smallest change that changes the class; numbers change with nearly everything, so they need bounds."""
    from sapwood.explain import counterfactual

    if not hasattr(estimator, "classes_"):
        return
    try:
        say(str(counterfactual(estimator, rows.slice(row, 1), X=rows)))
    except InputError as error:
        say(f"No change of this row changes the prediction: {error}")
