"""LightGBM's model files, read without LightGBM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import ModelFileError
from sapwood.interchange.sources.fields import Fields
from sapwood.interchange.sources.lightgbm.text import LightGBMText
from sapwood.interchange.sources.lightgbm.tree import LightGBMTree

MOST_COLUMNS = 1_000_000
MOST_CATEGORY = 2**31 - 1
VERSIONS = ("v3", "v4")


@dataclass(frozen=True, eq=False)
class LightGBMModel:
    """The model as LightGBM has it, trees in the order of training: tree t adds to score t modulo n_scores."""

    objective: str
    options: dict[str, str]  # of the objective, such as {"sigmoid": "1"}; "" for flags
    n_scores: int
    names: list[str] | None
    categories: dict[int, list[int]]  # numbers of the categories of each column that has some, ascending
    category_names: dict[int, list[object]]
    ranges: dict[int, tuple[float, float]]
    n_features: int
    trees: list[LightGBMTree]
    is_average: bool
    parameters: Mapping[str, str]

    @classmethod
    def read(cls, text: str) -> LightGBMModel:
        """From the text of a file."""
        parts = LightGBMText.read(text)
        head = parts.head
        if head.text("version") not in VERSIONS:
            raise head.error("version", f"is {head.text('version')!r}; {' and '.join(VERSIONS)} can be read")
        n_features = head.integer("max_feature_idx", 0, MOST_COLUMNS - 1) + 1
        trees = [LightGBMTree.read(fields, n_features) for fields in parts.trees]
        n_scores = head.integer("num_tree_per_iteration", 1)
        _check_count(head, len(trees), n_scores)
        infos = _of_each_column(head, "feature_infos", n_features)
        categories = _categories(infos, trees)
        names_of = _named(parts, categories, n_features)
        categories |= {j: list(range(len(own))) for j, own in names_of.items() if own and j not in categories}
        for tree in trees:
            tree.links.refuse_thresholds(tree.feature, categories, tree.categories)
        objective, options = _objective(head)
        return cls(
            objective,
            options,
            n_scores,
            _names(head, n_features),
            categories,
            names_of,
            _ranges(infos),
            n_features,
            trees,
            "average_output" in head,
            parts.parameters,
        )

    def sums(self, rows: Floats, n_trees: int) -> Floats:
        """Sums of leaf values (n_scores, rows), row by row and tree by tree: slow, and independent of all else."""
        out = np.zeros((self.n_scores, len(rows)))
        for t, tree in enumerate(self.trees[:n_trees]):
            out[t % self.n_scores] += [tree.value[tree.leaf(row)] for row in rows]
        return out


def _check_count(head: Fields, n_trees: int, n_scores: int) -> None:
    if n_trees == 0:
        raise ModelFileError("The model has no trees, so there is nothing to import.")
    if n_trees % n_scores:
        raise ModelFileError(f"The model has {n_trees} trees, but each iteration adds {n_scores}. The file is cut off.")
    if "tree_sizes" in head and len(head.text("tree_sizes").split()) != n_trees:
        raise head.error("tree_sizes", f"should hold the sizes of {n_trees} trees")


def _of_each_column(head: Fields, name: str, n_features: int) -> list[str]:
    found = head.text(name).split()
    if len(found) != n_features:
        raise head.error(name, f"should hold a string for each of the {n_features} columns, but holds {len(found)}")
    return found


def _names(head: Fields, n_features: int) -> list[str] | None:
    """None for the names that LightGBM makes up."""
    names = _of_each_column(head, "feature_names", n_features)
    if len(set(names)) < len(names):
        raise head.error("feature_names", "has the same name twice")
    return None if names == [f"Column_{j}" for j in range(n_features)] else names


def _objective(head: Fields) -> tuple[str, dict[str, str]]:
    parts = head.text("objective").split() if "objective" in head else []
    if not parts:
        raise ModelFileError("The model was trained with a custom objective, for which there is no loss here.")
    options = (part.partition(":") for part in parts[1:])
    return parts[0], {name: text for name, _, text in options}


def _categories(infos: Sequence[str], trees: Sequence[LightGBMTree]) -> dict[int, list[int]]:
    """Categories that training saw, such as "0:2:5", and those that splits name."""
    found: dict[int, set[int]] = {}
    for j, info in enumerate(infos):
        if info != "none" and not info.startswith("["):
            found[j] = {_category(part, j) for part in info.split(":")} - {-1}  # NaN is -1
    for tree in trees:
        for node, own in tree.categories.items():
            found.setdefault(int(tree.feature[node]), set()).update(own.tolist())
    return {j: sorted(own) for j, own in found.items() if own}


def _category(text: str, j: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -2
    if not -1 <= number <= MOST_CATEGORY:
        raise ModelFileError(f"feature_infos of column {j} holds {text!r}, which is not a category.")
    return number


def _named(parts: LightGBMText, categories: Mapping[int, list[int]], n_features: int) -> dict[int, list[object]]:
    """Names that pandas gave to the categories; they are in the order of the columns, which are not named."""
    pandas = parts.pandas_categories or []
    declared = {int(part) for part in parts.parameters.get("categorical_feature", "").split(",") if part.isdecimal()}
    fitting = (
        own for own in (declared, set(categories)) if len(own) == len(pandas) and max(own, default=0) < n_features
    )
    columns = next(fitting, None)
    if columns is None and pandas:
        raise ModelFileError(
            f"The model has {len(categories)} columns of categories, but names of those of {len(pandas)} columns, so "
            "it is unclear which these are. Train with a data frame in which exactly the columns of categories are "
            "categorical, and not ordered."
        )
    found = dict(zip(sorted(columns or ()), pandas, strict=False))
    for j, names in found.items():
        if j in categories and categories[j][-1] >= len(names):
            raise ModelFileError(
                f"Column {j} has a category {categories[j][-1]}, but pandas_categorical names {len(names)} of them."
            )
    return found


def _ranges(infos: Sequence[str]) -> dict[int, tuple[float, float]]:
    """Least and largest value of columns of numbers, such as "[0:1]"."""
    found = {}
    for j, info in enumerate(infos):
        low, colon, high = info.strip("[]").partition(":")
        if info.startswith("[") and colon:
            try:
                found[j] = float(low), float(high)
            except ValueError as error:
                raise ModelFileError(f"feature_infos of column {j} is {info!r}, which is not a range.") from error
    return found
