"""How Newton boosting is trained: rows are read, the setup is made, and what comes out is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sapwood.arrays import Ints
from sapwood.boosting.eval_metrics import warn_of_direction
from sapwood.boosting.fitting import Rows, Setup, fit_ensemble, statistics_of_levels
from sapwood.boosting.internal_validation import Validated, fit_validated, validation_for
from sapwood.errors import ParameterError
from sapwood.estimators.boosting_rows import GivenRows, digests, read_boosting_rows, read_validation_rows
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.continuation import check_same_loss, model_to_continue
from sapwood.estimators.source_columns import SourceColumns, open_codes, validation_columns
from sapwood.estimators.source_rows import ReadRows, read_source_rows
from sapwood.estimators.source_table import read_validation_source
from sapwood.estimators.splits import folds_of_rows
from sapwood.estimators.validation_sets import rows_held_out
from sapwood.losses.loss import Loss
from sapwood.parameters import check_parameters
from sapwood.scratch import scratch_folder
from sapwood.seed import seed_from

if TYPE_CHECKING:
    from sapwood.estimators.newton_boosting import NewtonBoosting

Model = TypeVar("Model", bound="NewtonBoosting")


def train(
    model: Model,
    given: GivenRows,
    validation: Sequence[GivenRows],
    init_model: Any,
    checkpoint: Any,
    verbose: bool | int | None,
) -> Model:
    """Read rows, make the setup, train, and keep what comes out."""
    model._seed = seed_from(model.random_state)
    if verbose is not None:
        check_parameters(type(model).__name__, {"verbose": model.rules["verbose"]}, {"verbose": verbose})
    shown = int(model.verbose if verbose is None else verbose)
    start = None if init_model is None else model_to_continue(init_model, model)
    columns = given.y.known_to(given.X) if isinstance(given.y, SourceColumns) else SourceColumns()
    validation = [validation_columns(one, columns, model.weight_name) for one in validation]
    if not isinstance(given.y, SourceColumns):
        rows, task = read_boosting_rows(model, given, start)
        n_given = len(rows.y) if rows.index is None else len(np.asarray(given.y))
        return _train_on(model, ReadRows(rows, task, n_given), validation, start, checkpoint, shown)
    if open_codes(given.X) is not None:
        _refuse_to_continue(init_model=init_model, checkpoint=checkpoint)
    with scratch_folder(model.scratch) as folder:
        read = read_source_rows(model, given, validation, start, folder, shown)
        return _train_on(model, read, validation, start, checkpoint, shown)


def _refuse_to_continue(**given: Any) -> None:
    """A model's scores cannot be found from codes alone."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"{name} is not allowed with a code file, which has no cells. Pass the data files.")


def _train_on(
    model: Model, read: ReadRows, validation: Sequence[GivenRows], start: Any, checkpoint: Any, verbose: int
) -> Model:
    rows, task = read.rows, read.task
    loss = model._loss(rows, task)
    if start is not None:
        check_same_loss(start, loss)
    columns = rows.table if rows.coded is None else rows.table.schema
    model._describe(columns, () if task.classes is None else [task.classes])
    if task.factors is not None:
        model._factors = task.factors
    evals = [_validation_rows(model, one, read, loss) for one in validation]
    kept = None if checkpoint is None else Checkpoints.of(checkpoint, model, lambda: digests([rows, *evals], start))
    if kept is not None and kept.is_finished:
        take_over(model, kept.found)
        return model
    if kept is not None and kept.found is not None:
        model._seed = kept.found._seed
    setup = _setup(model, read, loss, start, evals, kept)
    setup = replace(setup, plan=replace(setup.plan, verbose=verbose))
    if kept is not None:
        setup = model._resumed(setup, kept, model._so_far)
    model._chosen, model.recipe_, model._member_rounds = setup.recipe.values, setup.recipe.sentences, list[int]()
    model.target_statistics_ = statistics_of_levels(rows, setup)
    if setup.recipe.n_folds:
        _train_validated(model, read, setup)
        return model
    outcome = fit_ensemble(rows, evals, setup)
    model._keep(outcome, loss)
    if kept is not None:
        kept.finish(model, None if setup.statistics is None else outcome.scores)
    return model


def _validation_rows(model: NewtonBoosting, given: GivenRows, read: ReadRows, loss: Loss) -> Rows:
    if isinstance(given.y, SourceColumns):
        return read_validation_source(model, given, read.task, loss, read.arrays)
    return read_validation_rows(model, given, read.task, loss)


def _setup(
    model: NewtonBoosting, read: ReadRows, loss: Loss, start: Any, evals: Sequence[Rows], kept: Checkpoints | None
) -> Setup:
    """Everything that decides how the model is trained."""
    rows, task, held_out = read.rows, read.task, None
    if not evals and (model.validation_fraction is not None or model.early_stopping_rounds is not None):
        held_out = rows_held_out(model, rows, task.classes is not None)
    own_limits = (start, kept, held_out, model.callbacks, model.max_seconds)
    validates = not (evals or loss.whole) and all(one is None for one in own_limits)
    if model.cv is not None and not validates:
        raise ParameterError(
            f"cv={model.cv!r} is for other fits: it is not used with eval_set, early_stopping_rounds, callbacks, "
            "validation_fraction, max_seconds, init_model, checkpoint, rankings or functions as objective. Omit it."
        )
    setup = model._setup(rows, loss, start, held_out, validates)
    if rows.coded is not None and setup.recipe.n_folds:
        raise ParameterError(
            f"n_estimators='auto' is validated on folds of {len(rows.y):,} rows, which needs all cells in memory, but "
            "only codes are kept of them. Set n_estimators, or early_stopping_rounds with validation_fraction; or "
            "pass data files in place of a code file, and allow more with max_memory."
        )
    setup = replace(setup, metrics=task.metrics(model.eval_metric, loss, model))
    if model.early_stopping_rounds is not None or setup.recipe.n_folds:
        warn_of_direction(setup.metrics[-1])
    return setup


def _train_validated(model: NewtonBoosting, read: ReadRows, setup: Setup) -> None:
    """Train with rounds, and kinds of trees, that models of folds choose."""
    rows, classes = read.rows, read.task.classes
    folds = None if model.cv is None else folds_of_rows(model.cv, rows, read.n_given, classes)
    validated = fit_validated(rows, setup, validation_for(rows, setup, classes is not None, folds))
    recipe = setup.recipe.replaced(validated.chosen)
    model._chosen, model.recipe_ = recipe.values, [*recipe.sentences, *validated.sentences]
    _keep_validated(model, validated, setup.loss, rows.index, read.n_given)


def _keep_validated(model: NewtonBoosting, validated: Validated, loss: Loss, index: Ints | None, n_rows: int) -> None:
    """Set the fitted attributes; `index` are the rows of a weight above zero, of all that were given."""
    model._keep(validated.outcome, loss)
    model._member_rounds = validated.members
    found = model.model_.response(validated.scores)
    predicted = np.full((n_rows, len(found)), np.nan)
    predicted[slice(None) if index is None else index] = found.T
    model.oof_prediction_ = predicted[:, 0] if len(found) == 1 else predicted
