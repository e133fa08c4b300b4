"""`sapwood explain`: explanations of the predictions for one row of a data file, or for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sapwood.cli.console import print_line, print_table
from sapwood.cli.options import InputOptions, ModelFile
from sapwood.errors import InputError, ParameterError
from sapwood.one_line import one_line

if TYPE_CHECKING:
    from pyarrow import Table

    from sapwood.estimators.estimator import Estimator
    from sapwood.explain.shap.shap_result import ShapValues

_MOST_ROWS = 1000  # that are explained without --row
_BACKGROUND = 100  # rows that Shapley values compare with, where a model needs some


def explain(
    model: ModelFile,
    data: Annotated[Path, typer.Option("--input", help="CSV or Parquet file with the rows to explain.")],
    options: InputOptions,
    row: Annotated[
        int | None,
        typer.Option("--row", min=0, metavar="N", help="Row to explain, counted from 0. [default: all rows]"),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Maximum number of columns and trees to show.")] = 10,
    change: Annotated[
        bool, typer.Option("--change/--no-change", help="Find the smallest change of the row that changes its class.")
    ] = True,
) -> None:
    """Explain the predictions of a model.

    With --row: its decision path, its Shapley values, and the smallest change that changes its class. Without: the
    columns that matter most over all rows.
    """
    from sapwood.cli.model_file import read_model

    saved = read_model(model)
    estimator, rows = saved.estimator, saved.read_rows(data, options)
    if row is None:
        _explain_all(estimator, rows, most)
        return
    if row >= rows.num_rows:
        raise ParameterError(f"--row {row} is not in {str(data)!r}, which has the rows 0 to {rows.num_rows - 1}.")
    _explain_one(estimator, rows, row, most)
    if change:
        _show_change(estimator, rows, row)


def _explain_all(estimator: Estimator, rows: Table, most: int) -> None:
    from sapwood.cli.report import number
    from sapwood.explain import importance

    few = rows.slice(0, _MOST_ROWS)
    sizes = _shapley(estimator, few, rows).mean_abs().reshape(estimator.model_.schema.n_features, -1).sum(axis=1)
    structure = importance(estimator)
    gain = dict(zip(structure.names, structure["gain"], strict=True))
    splits = dict(zip(structure.names, structure["splits"], strict=True))
    order = sorted(range(len(sizes)), key=lambda j: -sizes[j])[:most]
    names = [estimator.model_.schema.names[j] for j in order]
    cells = [
        [one_line(name), number(sizes[j]), number(gain[name]), str(int(splits[name]))]
        for name, j in zip(names, order, strict=True)
    ]
    of_all = "" if few.num_rows == rows.num_rows else f" (the first of {rows.num_rows})"
    title = f"What matters, by the mean size of Shapley values of {few.num_rows} rows{of_all}"
    print_table(title, ["column", "mean |Shapley value|", "gain", "splits"], cells)


def _explain_one(estimator: Estimator, rows: Table, row: int, most: int) -> None:
    from sapwood.explain import decision_path

    one = rows.slice(row, 1)
    print_line(str(decision_path(estimator, one, most=most)))
    found = _shapley(estimator, one, rows)
    wanted = _predicted_output(found, estimator.predict(one)[0])
    _show_shapley(found.for_output(wanted), most)


def _shapley(estimator: Estimator, rows: Table, others: Table) -> ShapValues:
    """Shapley values; a model whose prediction is not a sum needs background rows, here the first of the file."""
    from sapwood.explain import shap_values

    background = None if estimator.model_.is_sum else others.slice(0, _BACKGROUND)
    return shap_values(estimator, rows, background=background)


def _predicted_output(found: ShapValues, prediction: object) -> object:
    """The output to explain: the predicted class if each class has a score, else the only one."""
    return prediction if prediction in found.output_names else found.output_names[0]


def _show_shapley(found: ShapValues, most: int) -> None:
    from sapwood.cli.report import number

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
    print_table(title, ["column", "value", "effect"], cells, n_names=2)


def _show_change(estimator: Estimator, rows: Table, row: int) -> None:
    """Print the smallest change that changes the class; regression would need a range of predictions to aim at."""
    from sapwood.explain import counterfactual

    if not estimator.model_.is_classifier:
        return
    try:
        print_line(str(counterfactual(estimator, rows.slice(row, 1), X=rows)))
    except InputError as error:
        print_line(f"No change of this row changes the prediction: {error}")
