"""How a model is to be made, as asked for on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sapwood.cli.layout import FOUND_OUT, Layout, layout_from
from sapwood.cli.models import estimator_class, find_model
from sapwood.cli.settings import parse_settings
from sapwood.cli.task import Task
from sapwood.errors import ParameterError


@dataclass(frozen=True)
class Recipe:
    """Everything but the files."""

    target: str
    model: str = "tree"
    task: Task = Task.AUTO
    settings: tuple[str, ...] = ()
    seed: int = 0
    weight: str | None = None
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    layout: Layout = FOUND_OUT
    drop_missing_target: bool = False

    def __post_init__(self) -> None:
        if self.target in (self.weight, *self.drop, *self.category):
            raise ParameterError(
                f"--target {self.target!r} is also named by --weight, --drop or --category. Name it once."
            )
        if set(self.category) & {self.weight, *self.drop}:
            raise ParameterError("A column named by --category is also named by --weight or --drop. Name it once.")

    def estimator(self, task: Task) -> Any:
        """A new, unfitted estimator with the parameters that were set."""
        kind = estimator_class(self.model, task)
        given = parse_settings(self.settings)
        if self.category and "categorical_features" in given:
            raise ParameterError("--category and --set categorical_features=… say the same. Use one of them.")
        inner = {name: given.pop(name) for name in list(given) if name.startswith("estimator__")}
        categories = {"categorical_features": list(self.category)} if self.category else {}
        defaults = {"random_state": self.seed, **dict(find_model(self.model).defaults)}
        if "categorical_features" in kind._get_param_names():
            return kind(**(defaults | categories | given)).set_params(**inner)
        if (categories or inner) and "estimator" not in given:  # what the learners are told
            given["estimator"] = kind().default_estimator().set_params(**categories)
        return kind(**(defaults | given)).set_params(**inner)


def recipe_from(**options: Any) -> Recipe:
    """A recipe from options as typer gives them, with None for a list nobody gave."""
    layout = layout_from(options)
    for name in ("settings", "drop", "category"):
        options[name] = tuple(options[name] or ())
    return Recipe(layout=layout, **options)
