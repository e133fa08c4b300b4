"""What linear leaves and symmetric trees do not go together with."""

from __future__ import annotations

from types import SimpleNamespace

from sapwood.boosting.recipe import Recipe
from sapwood.errors import ParameterError
from sapwood.losses.loss import Loss

MOST_BINS = 256  # of a byte, XGBoost's 256 counts as 255


def check_linear(p: SimpleNamespace, loss: Loss, recipe: Recipe) -> None:
    """Refuse parameters, of which none is "auto", that linear leaves cannot keep."""
    wrong = ""
    if loss.robust or loss.whole:
        wrong = f"the loss {loss.name!r}, whose leaves are no regressions on the derivatives of their rows"
    elif p.monotone_constraints is not None:
        wrong = "monotone_constraints, which slopes do not keep"
    elif p.max_delta_step > 0.0:
        wrong = f"max_delta_step={p.max_delta_step}, which limits leaves of one value"
    elif p.multi_strategy == "multi_output_tree" and loss.n_scores > 1:
        wrong = "multi_strategy='multi_output_tree', whose leaves have a value for each score"
    if wrong:
        raise ParameterError(
            f"linear_tree={p.linear_tree!r} cannot be used with {wrong}. Use linear_tree=False, or leave that out."
        )
    if p.linear_tree == "validate":
        _check_validation("linear_tree", "linear_tree=True or False", recipe)


def check_symmetric(p: SimpleNamespace, recipe: Recipe) -> None:
    """Refuse parameters, of which none is "auto", that trees of shared splits cannot keep."""
    wrong = ""
    if p.tree_method == "exact" or p.max_bin > MOST_BINS:
        wrong = f"tree_method={p.tree_method!r} and max_bin={p.max_bin}: it needs histograms of at most 255 bins"
    elif p.colsample_bynode < 1.0:
        wrong = f"colsample_bynode={p.colsample_bynode}, as all nodes of a level share a split. Use colsample_bylevel"
    if wrong:
        raise ParameterError(
            f"grow_policy={p.grow_policy!r} cannot be used with {wrong}. Or use grow_policy='lossguide'."
        )
    if p.grow_policy == "validate":
        _check_validation("grow_policy", "grow_policy='lossguide' or 'symmetric'", recipe)


def _check_validation(name: str, instead: str, recipe: Recipe) -> None:
    """Refuse to leave a choice to validation where nothing is validated."""
    if not recipe.n_folds:
        raise ParameterError(
            f"{name}='validate' compares kinds of trees on rows that validate the number of rounds, but here nothing is "
            f"validated. Use {instead}, or let rounds be validated: n_estimators='auto' with 200 to 200 000 rows, or "
            "cv=4, without eval_set, early_stopping_rounds, callbacks and the like."
        )
