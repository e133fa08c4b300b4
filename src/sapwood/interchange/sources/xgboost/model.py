"""XGBoost's model files, in JSON or UBJSON, read without XGBoost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.errors import ModelFileError
from sapwood.interchange.sources.fields import Fields
from sapwood.interchange.sources.xgboost.tree import XGBoostTree
from sapwood.interchange.sources.xgboost.ubjson import is_ubjson, read_ubjson

MOST_COLUMNS = 1_000_000
MOST_LEVELS = 2**20  # of a column whose categories have no names


@dataclass(frozen=True, eq=False)
class XGBoostModel:
    """The model as XGBoost has it; `base` is on the scale of predictions, and trees are in the order of training."""

    objective: str
    settings: Fields  # of the objective
    base: Floats  # of each group
    names: list[str] | None
    categories: list[tuple[object, ...] | None]  # of each column; () if their names are unknown, None for numbers
    trees: list[XGBoostTree]
    group: Ints  # class or quantile of each tree
    share: Floats  # what the leaf values of each tree are multiplied by
    ends: Ints  # number of trees after each iteration
    best_iteration: int | None
    best_score: float | None

    @property
    def n_groups(self) -> int:
        """Scores of a row."""
        return len(self.base)

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.categories)

    @property
    def n_best_trees(self) -> int:
        """Trees up to the best iteration of early stopping, or all."""
        return len(self.trees) if self.best_iteration is None else int(self.ends[self.best_iteration])

    @classmethod
    def read(cls, data: bytes) -> XGBoostModel:
        """From the bytes of a file."""
        fields = Fields(_parsed(data), "model")
        _check_version(fields)
        learner = fields.object("learner")
        n_features, base = _shape(learner.object("learner_model_param"))
        booster, share = _booster(learner.object("gradient_booster"))
        trees = [XGBoostTree.read(Fields(own, f"tree {t}"), n_features) for t, own in enumerate(booster.items("trees"))]
        if not trees:
            raise ModelFileError("The model has no trees, so there is nothing to import.")
        group = booster.integers("tree_info", len(trees), high=len(base) - 1)
        objective = learner.object("objective")
        best, score = _best(learner)
        ends = _ends(booster, len(trees), len(base))
        if best is not None and best >= len(ends):
            raise ModelFileError(f"best_iteration is {best}, but the model has {len(ends)} iterations.")
        return cls(
            objective.text("name"),
            objective,
            base,
            _names(learner, n_features),
            _categories(learner, booster, trees, n_features),
            trees,
            group,
            np.ones(len(trees)) if share is None else share.singles("weight_drop", len(trees)),
            ends,
            best,
            score,
        )

    def margins(self, rows: Floats, n_trees: int) -> Floats:
        """Scores (groups, rows) without the base, by code that the imported model does not use."""
        out = np.zeros((self.n_groups, len(rows)))
        with np.errstate(over="ignore", under="ignore"):
            cells = rows.astype(np.float32)
        for tree, k, share in zip(self.trees[:n_trees], self.group.tolist(), self.share.tolist(), strict=False):
            out[k] += share * tree.condition[tree.leaves(cells)].astype(np.float64)
        return out


def _parsed(data: bytes) -> object:
    if is_ubjson(data):
        return read_ubjson(data)
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"This is not a model file of XGBoost: it is neither UBJSON nor JSON ({error}). Save the "
            "model with booster.save_model('model.json') or 'model.ubj'."
        ) from error


def _check_version(fields: Fields) -> None:
    version = fields.integers("version")
    if len(version) != 3 or not 1 <= version[0] <= 3:
        shown = ".".join(map(str, version.tolist()))
        raise ModelFileError(f"The model was written by XGBoost {shown}; versions 1 to 3 can be read.")


def _shape(about: Fields) -> tuple[int, Floats]:
    """Number of columns, and the base score of each group."""
    n_features = about.integer("num_feature", 1, MOST_COLUMNS)
    n_classes = about.integer("num_class")
    n_targets = about.integer("num_target") if "num_target" in about else 1
    base = _numbers(about, "base_score")
    n_groups = max(n_classes, n_targets, 1)
    if len(base) not in (1, n_groups):
        raise about.error("base_score", f"holds {len(base)} numbers for {n_groups} scores")
    if n_groups > MOST_COLUMNS:
        raise about.error("num_class", f"is {n_groups}")
    return n_features, np.broadcast_to(base, n_groups).copy()


def _numbers(about: Fields, name: str) -> Floats:
    """A number written as a string, or several in brackets."""
    parts = about.text(name).strip().strip("[]()").split(",")
    return np.array([about.as_number(name, part) for part in parts], dtype=np.float32).astype(np.float64)


def quantiles_of(settings: Fields) -> list[float]:
    """The quantiles of the quantile loss, as short decimals of float32."""
    found = _numbers(settings.object("quantile_loss_param"), "quantile_alpha")
    return [float(str(np.float32(q))) for q in found]


def _booster(booster: Fields) -> tuple[Fields, Fields | None]:
    """Trees, and for dart the fields that hold their weights."""
    name = booster.text("name")
    if name == "gbtree":
        return booster.object("model"), None
    if name == "dart":
        return booster.object("gbtree").object("model"), booster
    raise ModelFileError(f"The model is of XGBoost's kind {name!r}, which has no trees. Import one of gbtree or dart.")


def _best(learner: Fields) -> tuple[int | None, float | None]:
    """Early stopping's best iteration and its metric."""
    if "attributes" not in learner:
        return None, None
    about = learner.object("attributes")
    best = about.integer("best_iteration") if "best_iteration" in about else None
    return best, about.number("best_score") if "best_score" in about else None


def _ends(booster: Fields, n_trees: int, n_groups: int) -> Ints:
    """Number of trees after each iteration."""
    if "iteration_indptr" in booster:
        ends = booster.integers("iteration_indptr", high=n_trees)
        if len(ends) and (ends[0] != 0 or ends[-1] != n_trees or (np.diff(ends) < 1).any()):
            raise booster.error("iteration_indptr", f"does not rise from 0 to {n_trees}")
        if len(ends):
            return ends[1:]
    about = booster.object("gbtree_model_param")
    parallel = about.integer("num_parallel_tree", 0) if "num_parallel_tree" in about else 1
    step = n_groups * max(parallel, 1)
    return np.arange(step, n_trees + 1, step)


def _names(learner: Fields, n_features: int) -> list[str] | None:
    names: Sequence[str] = learner.texts("feature_names") if "feature_names" in learner else []
    if not names:
        return None
    if len(names) != n_features or len(set(names)) < len(names):
        raise learner.error("feature_names", f"should hold a different name for each of the {n_features} columns")
    return list(names)


def _categories(
    learner: Fields, booster: Fields, trees: Sequence[XGBoostTree], n_features: int
) -> list[tuple[object, ...] | None]:
    """Names of the categories of each column, () where they have none, None for columns of numbers."""
    types = learner.texts("feature_types") if "feature_types" in learner else []
    if types and len(types) != n_features:
        raise learner.error("feature_types", f"should hold a type for each of the {n_features} columns")
    declared = {j for j, kind in enumerate(types) if kind == "c"}
    columns = declared | {int(tree.feature[node]) for tree in trees for node in tree.categories}
    for tree in trees:
        tree.links.refuse_thresholds(tree.feature, columns, tree.categories)
    names = _stored_names(booster, n_features)
    found = [names.get(j, ()) if j in columns else None for j in range(n_features)]
    _check_codes(trees, found)
    return found


def _check_codes(trees: Sequence[XGBoostTree], found: Sequence[tuple[object, ...] | None]) -> None:
    for tree in trees:
        for node, codes in tree.categories.items():
            names = found[int(tree.feature[node])]
            most = len(names) if names else MOST_LEVELS
            if len(codes) and codes.max() >= most:
                raise ModelFileError(
                    f"{tree.links.where} splits category {codes.max()} of column {tree.feature[node]}, which has at "
                    f"most {most} categories. Number them 0, 1, 2, …."
                )


def _stored_names(booster: Fields, n_features: int) -> dict[int, tuple[object, ...]]:
    """Versions from 3.1 on store the categories of data frames: texts as bytes one after the other, numbers as such."""
    if "cats" not in booster:
        return {}
    stored = booster.object("cats")
    columns = [Fields(own, f"{stored.where}.enc[{j}]") for j, own in enumerate(stored.items("enc"))]
    if columns and len(columns) != n_features:
        raise stored.error("enc", f"should hold the categories of each of the {n_features} columns")
    found = {
        j: _texts(own) if "offsets" in own else tuple(own.floats("values").tolist()) for j, own in enumerate(columns)
    }
    return {j: names for j, names in found.items() if names}


def _texts(column: Fields) -> tuple[str, ...]:
    data = bytes((column.integers("values", low=-128, high=255) % 256).astype(np.uint8))
    ends = column.integers("offsets", high=len(data))
    if (np.diff(ends) < 0).any():
        raise column.error("offsets", "do not rise")
    try:
        return tuple(data[a:b].decode("utf-8") for a, b in pairwise(ends.tolist()))
    except UnicodeDecodeError as error:
        raise column.error("values", "are not UTF-8") from error
