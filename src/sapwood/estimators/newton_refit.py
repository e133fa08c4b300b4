"""New leaf values for a fitted model of Newton boosting, learned from other rows."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from sapwood.boosting.history import History
from sapwood.boosting.refit import Refit
from sapwood.boosting.training import Outcome
from sapwood.counted import counted
from sapwood.errors import ParameterError
from sapwood.estimators.boosting_rows import GivenRows, read_boosting_rows

if TYPE_CHECKING:
    from sapwood.estimators.newton_boosting import NewtonBoosting

Model = TypeVar("Model", bound="NewtonBoosting")


def refitted(fitted: Model, given: GivenRows, decay: float) -> Model:
    """A model with the same splits, whose leaf values are decay * old + (1 - decay) * new."""
    rows, _ = read_boosting_rows(fitted, given, fitted)
    if fitted.loss_.whole:
        raise ParameterError("refit() is not for rankings and losses of all rows together. Use init_model of fit.")
    known: dict[str, Any] = {"_chosen": {}, "_member_rounds": [], "recipe_": []}  # of an old file
    model, known = copy(fitted), known | dict(vars(fitted))
    resolved = known["_chosen"] | {"linear_tree": False}  # what "auto" and "validate" were in training
    setup = copy(fitted).set_params(**resolved)._setup(rows, fitted.loss_)
    options, start = setup.rounds, fitted.ensemble_.upto(fitted.best_n_rounds_)
    of = Refit(rows, fitted.loss_, options.tree, setup.plan.rate, options.alternates, decay, options.n_jobs)
    new = of.ensemble(start, known["_member_rounds"])
    model._keep(Outcome(new, History((), ()), None, f"refitted to {counted(len(rows.y), 'row')}"), fitted.loss_)
    model.__dict__.pop("oof_prediction_", None)
    kept = known["recipe_"][: len(known["_chosen"])]
    model.recipe_ = [*kept, f"Leaf values: {model.stopped_reason_}, decay {decay}."]
    return model
