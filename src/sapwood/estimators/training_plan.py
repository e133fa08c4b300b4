"""The plan of a training on a source: where its arrays will be, and what that takes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood.arrays import Array
from sapwood.boosting.memory_plan import TrainingPlan, TrainingSize, plan_for
from sapwood.codes.binned import row_width
from sapwood.codes.bundles import spaced
from sapwood.codes.code_file import CodeFile
from sapwood.errors import DataFileError, InputError, ParameterError
from sapwood.estimators.boosting_rows import GivenRows
from sapwood.estimators.boosting_task import BoostingClasses
from sapwood.estimators.newton_setup import OPTIONS
from sapwood.estimators.source_columns import (
    SourceColumns,
    is_training_source,
    open_codes,
    source_columns,
    validation_columns,
)
from sapwood.estimators.source_table import validation_bytes
from sapwood.estimators.validation_sets import read_eval_set
from sapwood.memory_size import read_size, written_size
from sapwood.scratch import scratch_parent
from sapwood.shard.gradient_units import PACKED_ROWS
from sapwood.sources.open import open_source
from sapwood.sources.source import batch_rows
from sapwood.sources.survey import Survey, survey
from sapwood.table.categorical import find_categorical
from sapwood.threads import resolve_jobs

if TYPE_CHECKING:
    from sapwood.estimators.newton_boosting import NewtonBoosting


def plan(
    model: NewtonBoosting,
    source: Any,
    *,
    target: str | None = None,
    sample_weight: str | None = None,
    qid: str | None = None,
    eval_set: Any = None,
) -> TrainingPlan:
    """What `model.fit(source, target=...)` will take, found by reading the rows once.

    Args:
        model: an estimator of Newton boosting; its `max_memory` and `scratch` count.
        source: what `fit` takes: a path, a folder or pattern, a lazy frame, a code file.
        target: name of the column that is to be predicted.
        sample_weight: name of the column of weights, of queries for a ranking.
        qid: name of the column of queries, for a ranking.
        eval_set: validation sets, as in `fit`.

    Raises:
        ParameterError: if `max_memory` is too little in any case; it tells how much is needed.
        DataFileError: if the scratch folder has not enough room.
    """
    from sapwood.estimators.newton_boosting import NewtonBoosting

    if not isinstance(model, NewtonBoosting):
        raise ParameterError(
            f"model is a {type(model).__name__}, but only NewtonBoostingRegressor, -Classifier and -Ranker train on "
            "sources of rows."
        )
    if not is_training_source(source):
        raise ParameterError(
            f"source is a {type(source).__name__}, which is in memory already. Pass a path, a folder, a pattern, a "
            "lazy frame or a code file."
        )
    columns = source_columns(None, target, sample_weight, model.weight_name, qid)
    sets = [] if eval_set is None else read_eval_set(eval_set, None, "sample_weight_eval_set")
    found = find_rows(model, source, columns, int(model.verbose))
    columns = columns.known_to(found)
    made = plan_of(model, found, [validation_columns(one, columns, model.weight_name) for one in sets])
    check_space(made, scratch_parent(model.scratch))
    return made


def find_rows(model: NewtonBoosting, X: Any, columns: SourceColumns, verbose: int) -> Survey | CodeFile:
    """What is known of a source before it is coded, or a code file; raises if the model cannot be trained on it."""
    file = open_codes(X)
    if file is not None:
        _check_code_file(model, file, columns)
        return file
    if isinstance(X, Survey):
        return X
    task = "classes" if model.task is BoostingClasses else "numbers"
    return survey(
        open_source(X),
        columns.roles,
        task=task,  # type: ignore[arg-type]
        categorical_features=model.categorical_features,
        n_jobs=resolve_jobs(model.n_jobs),
        verbose=verbose,
    )


def _check_code_file(model: NewtonBoosting, file: CodeFile, columns: SourceColumns) -> None:
    roles = file.contents.roles
    for name, wanted in (("target", columns.target), ("weight", columns.weight), ("query", columns.query)):
        if wanted is not None and wanted != roles[name]:
            raise InputError(
                f"The code file {str(file.path)!r} has the {name} {roles[name]!r}, not {wanted!r}. Encode the data "
                "again with that one, or leave it out."
            )
    if roles["target"] is None:
        raise InputError(f"The code file {str(file.path)!r} has no target. Encode the data again with one.")
    is_class = file.contents.classes is not None
    if is_class is not (model.task is BoostingClasses):
        kind = "classes" if is_class else "numbers"
        raise InputError(
            f"The target of the code file {str(file.path)!r} holds {kind}, which {type(model).__name__} does not "
            "predict. Use another estimator, or encode the data with another task."
        )
    _check_bins(model, file)


def _check_bins(model: NewtonBoosting, file: CodeFile) -> None:
    """Bins and categories were chosen when the rows were coded."""
    path, own = str(file.path), file.contents.max_bins
    if model.max_bin != type(model)().max_bin and min(255, int(model.max_bin)) != own:
        raise ParameterError(
            f"max_bin={model.max_bin} is not allowed with the code file {path!r}, which has at most {own} bins of a "
            f"column. Use max_bin={own}, or encode the data again with other bins."
        )
    for j in sorted(find_categorical(model.categorical_features, file.schema.names)):
        column = file.schema.columns[j]
        if column.kind != "category":
            raise ParameterError(
                f"categorical_features names {column.name!r}, which holds numbers in the code file {path!r}. Leave it "
                "out, or encode the data again with this column as a category."
            )


def plan_of(model: NewtonBoosting, found: Survey | CodeFile, validation: Sequence[GivenRows] = ()) -> TrainingPlan:
    """Where the arrays of a training on these rows will be."""
    schema, n_rows, classes = found.schema, found.n_rows, classes_of(found)
    if isinstance(found, CodeFile):
        n_codes = np.array([own.n_codes for own in found.bins], dtype=np.int64)
        roles, label = found.contents.roles, str(found.path)
        weighted, has_queries = roles["weight"] is not None, roles["query"] is not None
        source_bytes, n_read = 0, 0
    else:
        most = min(255, int(model.max_bin))
        n_codes = np.where(schema.n_levels > 0, np.minimum(schema.n_levels, 255), most).astype(np.int64)
        weighted, has_queries, label = found.has_weight, found.n_queries > 0, found.source.label
        source_bytes, n_read = found.source.n_bytes or 0, min(n_rows, batch_rows(schema.n_features))
    n_classes = 0 if classes is None else len(classes)
    n_scores = n_classes if n_classes > 2 else _n_quantiles(model)
    p = model.tree_limits(n_rows, schema.n_features, n_classes)
    leaves = int(p.max_leaves or 0)
    depth = min(20, int(p.max_depth or (n_rows - 1).bit_length()))
    class_weighted = n_classes > 0 and (model.class_weight is not None or model.scale_pos_weight != 1.0)
    sources = [one for one in validation if isinstance(one.y, SourceColumns)]
    size = TrainingSize(
        n_rows,
        schema.n_features,
        row_width(schema.n_features),
        n_scores,
        int(spaced(n_codes + 1)[-1]),
        leaves or 1 << depth,
        p.n_estimators,
        leaves if leaves and p.grow_policy == "lossguide" else depth,
        weighted=weighted,
        share=float(p.subsample),
        short=n_classes > 0 and n_rows >= PACKED_ROWS,
        one_tree=n_scores > 1 and p.multi_strategy == "multi_output_tree",
        counts_rows=p.min_child_samples > 1,
        batch_bytes=n_read * schema.n_features * 8,
        source_bytes=source_bytes,
        validation_bytes=sum(validation_bytes(one, n_scores, schema.n_features) for one in sources),
        is_coded=isinstance(found, CodeFile),
        held_out=0.0 if validation else float(model.validation_fraction or 0.0),
        by_gradient=p.subsample < 1.0 and p.sampling_method == "gradient_based",
        class_weighted=class_weighted,
        has_queries=has_queries,
        limits_leaves=leaves > 0,
    )
    return plan_for(size, read_size(model.max_memory), label)


def classes_of(found: Survey | CodeFile) -> Array | None:
    """Labels of the target; None for numbers."""
    if isinstance(found, CodeFile):
        return found.contents.classes
    return None if found.target is None else found.target.classes


def _n_quantiles(model: NewtonBoosting) -> int:
    """Scores of a model of numbers."""
    is_of_quantiles = (
        OPTIONS.get(model.objective, ("",))[0] == "quantile" if isinstance(model.objective, str) else False
    )
    return int(np.size(model.quantile_alpha)) if is_of_quantiles else 1


def check_space(made: TrainingPlan, folder: Path) -> None:
    """Raise if the scratch folder has not enough room for what is written."""
    free = shutil.disk_usage(folder).free
    if made.disk > free:
        raise DataFileError(
            f"The scratch folder {str(folder)!r} has {written_size(free)} free, but training on {made.source!r} needs "
            f"{written_size(made.disk)}. Give another folder with scratch=, or make room."
        )
