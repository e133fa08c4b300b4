"""The Model to export, and what exports need beyond it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sapwood.errors import InputTypeError, ParameterError
from sapwood.model import Model, model_of

MOST_EXPONENT = 709.0  # just below the logarithm of the largest float64, as in the losses


def exported_model(model: object, target: str, *, has_lines: bool = True) -> Model:
    """The Model of a fitted estimator, its trees unpacked once; `target` is the language or format, for errors.

    `has_lines` if the target can express linear leaves.
    """
    found = model_of(model)
    if not found.is_all_trees:
        raise InputTypeError(
            f"This {found.estimator} contains estimators of another library, which cannot be exported to {target}. "
            "Use trees of Sapwood, and init=None."
        )
    if found.trees.is_linear and not has_lines:
        raise ParameterError(
            f"The leaves of this {found.estimator} are linear functions of columns, for which the format of {target} "
            "has no place. Train with linear_tree=False, or use to_onnx, to_sql, to_c or to_python."
        )
    response, terms = found.response, tuple(found.trees)
    if response.factors is not None:  # a weight of zero cannot be undone
        response = replace(response, factors=np.where(response.factors > 0, response.factors, 1.0))
    return replace(found, trees=replace(found.trees, term=terms.__getitem__), response=response)


def output_names(model: Model) -> list[str]:
    """Names of the probabilities or predictions of a row."""
    if len(model.classes) == 1:
        return [str(label) for label in model.classes[0].tolist()]
    names = [str(model.score_names[k]) for k in model.kept_scores]
    return ["prediction"] if len(names) == 1 or not model.is_sum else names


def stops_at_unseen(model: Model) -> bool:
    """Whether a row with an unseen level may stop at an inner node."""
    return model.unseen == "node" and bool(model.schema.n_levels.any())
