"""Records: the objects that models are made of, and how each is written and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.adaboost.members import TreeMembers
from sapwood.arrays import Floats
from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import ModelFileError, ParameterError
from sapwood.files.checks import (
    Check,
    anything,
    each,
    flag,
    floats,
    ints,
    is_a,
    number,
    one_of,
    optional,
    text,
    whole,
)
from sapwood.files.linear_records import read_lines, write_lines
from sapwood.files.lost import Lost
from sapwood.files.tree_records import read_trees, write_trees
from sapwood.files.tree_stack import TreeStack
from sapwood.files.values import Json, Reader, RecordKind, Writer, expect, shown
from sapwood.forest.bags import Bag, Bags
from sapwood.forest.forest import Forest, Vote
from sapwood.forest.leaf_targets import LeafRows
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.losses.names import LOSSES
from sapwood.losses.per_target import PerTarget
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.tree import Tree

NUMBERS = ("number", "boolean", "date", "duration")
MOST_DRAWS = 2**32  # of a bag


def record(cls: type, fields: Mapping[str, Check]) -> RecordKind:
    """A dataclass: its fields by name, each of which has a check."""

    def write(value: Any, writer: Writer, where: str) -> Json:
        return {name: writer.write(getattr(value, name), f"{where}.{name}") for name in fields}

    def read(found: Json, reader: Reader, where: str) -> Any:
        return cls(**read_fields(found, fields, reader, where))

    return RecordKind(cls, write, read)


def read_fields(found: Json, fields: Mapping[str, Check], reader: Reader, where: str) -> dict[str, Any]:
    """Values of all fields, checked."""
    expect(isinstance(found, dict), where, "must be an object")
    expect(set(found) == set(fields), where, f"must have the entries {', '.join(fields)}")
    values = {name: reader.read(found[name], f"{where}.{name}") for name in fields}
    for name, check in fields.items():
        check(values[name], f"{where}.{name}")
    return values


def _level(value: Any, where: str) -> None:
    expect(type(value) in (str, bool, int, float), where, "must be a string or number")


COLUMN_FIELDS = {
    "name": text,
    "kind": one_of("category", *NUMBERS),
    "levels": each(_level, tuple),
    "low": number,
    "high": number,
    "has_missing": flag,
}
SCHEMA_FIELDS = {
    "columns": each(is_a(ColumnSchema), tuple),
    "named": flag,
    "sparse_absent": one_of("zero", "missing"),
}
BAG_FIELDS = {"rows": ints(), "counts": ints(MOST_DRAWS), "features": optional(ints())}
BAGS_FIELDS = {
    "seed": whole(high=2**64),
    "order": ints(),
    "weight": optional(floats(finite=True)),
    "n_draws": optional(whole(high=MOST_DRAWS)),
    "replace": flag,
    "n_features": whole(),
    "n_chosen": optional(whole()),
    "repeat_columns": flag,
    "given": optional(each(is_a(Bag))),
}
LEAF_ROWS_FIELDS = {"rows": ints(), "counts": is_a(np.ndarray), "starts": ints()}
VOTE_FIELDS = {"hard": flag, "n_classes": each(whole(1), tuple)}
LOSS_OPTIONS = {  # those that decide how large a loss is
    "n_classes": whole(2, 2**20),
    "n_scores": whole(1, 2**20),
    "group_sizes": each(one_of(1)),
    "function": is_a(Lost),
}

OF_EACH_TARGET = ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie")


def schema_kind() -> RecordKind:
    """A schema, whose columns differ in name."""
    plain = record(Schema, SCHEMA_FIELDS)

    def read(found: Json, reader: Reader, where: str) -> Schema:
        schema: Schema = plain.read(found, reader, where)
        expect(0 < len(set(schema.names)) == len(schema.columns), where, "must have columns of different names")
        for column in schema.columns:
            is_category = column.kind == "category"
            expect(is_category or not column.levels, f"{where}.{column.name}", "has levels but is not a category")
            same = len(column.code_of) == len(column.levels)
            expect(same, f"{where}.{column.name}", "has a level twice")
        return schema

    return RecordKind(Schema, plain.write, read)


def bags_kind() -> RecordKind:
    """Bags, whose rows exist."""
    plain = record(Bags, BAGS_FIELDS)

    def read(found: Json, reader: Reader, where: str) -> Bags:
        bags: Bags = plain.read(found, reader, where)
        n = bags.n_rows
        seen = np.zeros(n, dtype=np.bool_)
        ints(n)(bags.order, f"{where}.order")
        seen[bags.order] = True
        expect(bool(seen.all()), f"{where}.order", "is not an order of the rows")
        if bags.weight is not None:
            fits = bags.weight.shape == (n,) and bool((bags.weight >= 0).all() and bags.weight.any())
            expect(fits, f"{where}.weight", "does not match the rows")
        chosen = bags.n_chosen is None or 0 < bags.n_chosen <= bags.n_features
        expect(chosen, f"{where}.n_chosen", "is more than there are columns, or none")
        without = bags.replace or bags.n_draws is None or bags.n_draws <= n
        expect(without, f"{where}.n_draws", "is more than there are rows")
        for bag in bags.given or ():
            ints(n)(bag.rows, f"{where}.given")
            expect(bag.counts.shape == bag.rows.shape, f"{where}.given", "has counts that do not match its rows")
            if bag.features is not None:
                ints(bags.n_features)(bag.features, f"{where}.given")
        return bags

    return RecordKind(Bags, plain.write, read)


def _write_loss(loss: Loss, writer: Writer, where: str) -> Json:
    if isinstance(loss, PerTarget):
        each = [_write_loss(own, writer, f"{where}.losses.{k}") for k, own in enumerate(loss.losses_of)]
        return {"name": loss.name, "options": {"losses": each, "targets": list(loss.targets)}}
    options = {name: writer.write(value, f"{where}.{name}") for name, value in loss.options().items()}
    return {"name": loss.name, "options": options}


def _read_loss(found: Json, reader: Reader, where: str) -> Loss:
    fits = isinstance(found, dict) and set(found) == {"name", "options"} and isinstance(found["options"], dict)
    expect(fits, where, "must have a name and options")
    if found["name"] == PerTarget.name:
        return _read_losses_of_targets(found["options"], reader, where)
    options = {name: reader.read(value, f"{where}.{name}") for name, value in found["options"].items()}
    for name, value in options.items():
        LOSS_OPTIONS.get(name, anything)(value, f"{where}.{name}")
    if found["name"] == CustomLoss.name:
        rowwise = options.get("rowwise", True) is True
        named = set(options) - {"rowwise"} == {"function", "n_scores"}
        expect(named and rowwise, where, "must have a function, a number of scores, and maybe rowwise=True")
        return CustomLoss(**options)
    known = isinstance(found["name"], str) and found["name"] in LOSSES
    expect(known, where, f"has the unknown name {shown(found['name'])}")
    try:
        return LOSSES[found["name"]](**options)
    except (ParameterError, TypeError, ValueError) as error:
        expect(False, where, f"has options that the loss does not take ({error})")
        raise


def _read_losses_of_targets(found: Mapping[str, Json], reader: Reader, where: str) -> PerTarget:
    """Losses of one score each, all of one kind, and the names of at least two targets."""
    fits = set(found) == {"losses", "targets"} and all(isinstance(value, list) for value in found.values())
    expect(fits, where, "must have losses and targets")
    each(text)(found["targets"], f"{where}.targets")
    expect(len(found["targets"]) == len(found["losses"]) > 1, where, "does not have a loss for each of its targets")
    losses = []
    for k, own in enumerate(found["losses"]):
        at = f"{where}.losses.{k}"
        of_rows = isinstance(own, dict) and isinstance(own.get("name"), str) and own["name"] in OF_EACH_TARGET
        expect(of_rows, at, "is not the loss of one target")
        losses.append(_read_loss(own, reader, at))
        fits = losses[-1].n_scores == 1 and own["name"] == losses[0].name
        expect(fits, at, "does not match the losses of the other targets")
    return PerTarget(losses, found["targets"])


def loss_kinds() -> dict[str, RecordKind]:
    """Every loss is written in the same way: its name and its options."""
    classes = {maker for maker in LOSSES.values() if isinstance(maker, type)} | {CustomLoss, PerTarget}
    kinds = sorted(classes, key=lambda cls: cls.__name__)
    return {cls.__name__: RecordKind(cls, _write_loss, _read_loss, "fitted.loss_") for cls in kinds}


@dataclass(frozen=True, eq=False)
class ConstantInit:
    """The number that gradient boosting starts from, which is scikit-learn's DummyRegressor in the estimator."""

    constant: float


@dataclass(frozen=True, eq=False)
class PriorInit:
    """The shares of classes that gradient boosting starts from, scikit-learn's DummyClassifier in the estimator."""

    prior: Floats


def _write_constant(init: Any, writer: Writer, where: str) -> Json:
    return writer.write(float(np.ravel(init.constant_)[0]), where)


def _read_constant(found: Json, reader: Reader, where: str) -> ConstantInit:
    constant = reader.read(found, where)
    number(constant, where)
    expect(bool(np.isfinite(constant)), where, "must be finite")
    return ConstantInit(constant)


def _write_prior(init: Any, writer: Writer, where: str) -> Json:
    return writer.write(init.class_prior_, where)


def _read_prior(found: Json, reader: Reader, where: str) -> PriorInit:
    prior = reader.read(found, where)
    floats(finite=True)(prior, where)
    expect(len(prior) > 0, where, "has no classes")
    return PriorInit(prior)


class ModelKinds:
    """Records that hold trees need the columns of the model: its schema is read first."""

    n_levels: NDArray[np.int32] = np.empty(0, dtype=np.int32)  # without a schema there are no columns

    def by_name(self) -> dict[str, RecordKind]:
        """All kinds of records."""
        return {
            "ColumnSchema": record(ColumnSchema, COLUMN_FIELDS),
            "Schema": self._schema(),
            "Bag": record(Bag, BAG_FIELDS),
            "Bags": bags_kind(),
            "LeafRows": record(LeafRows, LEAF_ROWS_FIELDS),
            "Vote": record(Vote, VOTE_FIELDS),
            "Tree": RecordKind(Tree, self._write_tree, self._read_tree, "fitted.tree_"),
            "Ensemble": RecordKind(Ensemble, self._write_ensemble, self._read_ensemble, "fitted.ensemble_"),
            "Forest": RecordKind(Forest, self._write_forest, self._read_forest, "fitted.forest_"),
            "TreeMembers": RecordKind(TreeMembers, self._write_members, self._read_members, "fitted._members"),
            "DummyRegressor": RecordKind(ConstantInit, _write_constant, _read_constant, "fitted.init_"),
            "DummyClassifier": RecordKind(PriorInit, _write_prior, _read_prior, "fitted.init_"),
            **loss_kinds(),
        }

    def _schema(self) -> RecordKind:
        plain = schema_kind()

        def read(found: Json, reader: Reader, where: str) -> Schema:
            schema: Schema = plain.read(found, reader, where)
            self.n_levels = schema.n_levels
            return schema

        return RecordKind(Schema, plain.write, read, "fitted.schema_")

    def _write_tree(self, tree: Tree, writer: Writer, where: str) -> Json:
        return write_trees([tree], writer, where)

    def _read_tree(self, found: Json, reader: Reader, where: str) -> Tree:
        stack = self.stack(found, reader, where)
        expect(len(stack) == 1, where, "must be one tree")
        return next(stack.trees())

    def stack(self, found: Json, reader: Reader, where: str) -> TreeStack:
        """Trees of the model's columns, at least one."""
        stack = read_trees(found, self.n_levels, reader, where)
        if stack is None:
            raise ModelFileError(f"The model file cannot be used: {where} has no trees.")
        return stack

    def _write_ensemble(self, ensemble: Ensemble, writer: Writer, where: str) -> Json:
        trees = [tree for trees in ensemble.rounds for tree in trees]
        lines = write_lines(trees, writer, f"{where}.linear")
        return {
            "base": writer.write(ensemble.base, f"{where}.base"),
            "trees": write_trees(trees, writer, f"{where}.trees"),
            **({} if lines is None else {"linear": lines}),
        }

    def _read_ensemble(self, found: Json, reader: Reader, where: str) -> Ensemble:
        fits = isinstance(found, dict) and {"base", "trees"} <= set(found) <= {"base", "trees", "linear"}
        expect(fits, where, "must have a base and trees")
        base = reader.read(found["base"], f"{where}.base")
        floats(finite=True)(base, f"{where}.base")
        n = len(base)
        stack = read_trees(found["trees"], self.n_levels, reader, f"{where}.trees")
        if stack is None:
            expect("linear" not in found, f"{where}.linear", "has lines, but there are no trees")
            return Ensemble(base)
        shape = stack.facts.value_shape
        expect(shape in ((1, 1), (n, 1)), f"{where}.trees", f"has neither one value nor {n} values in a node")
        size = n if shape == (1, 1) else 1  # of a round: a tree for each score, or one for all
        expect(n > 0 and len(stack) % size == 0, f"{where}.trees", f"does not have a tree for each of {n} scores")
        trees = list(stack.trees())
        if "linear" in found:
            expect(shape == (1, 1), f"{where}.linear", "belongs to trees of one score")
            trees = read_lines(found["linear"], trees, reader, f"{where}.linear")
        return Ensemble(base, tuple(tuple(trees[t : t + size]) for t in range(0, len(trees), size)))

    def _write_forest(self, forest: Forest, writer: Writer, where: str) -> Json:
        return {
            "vote": writer.write(forest.vote, f"{where}.vote"),
            "trees": write_trees(list(forest.unpacked()), writer, f"{where}.trees"),
        }

    def _read_forest(self, found: Json, reader: Reader, where: str) -> Forest:
        expect(isinstance(found, dict) and set(found) == {"vote", "trees"}, where, "must have a vote and trees")
        vote = reader.read(found["vote"], f"{where}.vote")
        is_a(Vote)(vote, f"{where}.vote")
        stack = self.stack(found["trees"], reader, f"{where}.trees")
        hard = not vote.hard or vote.n_classes == stack.facts.n_classes
        expect(hard, f"{where}.vote", "does not match the classes of the trees")
        return Forest(stack.packed(), vote)

    def _write_members(self, members: TreeMembers, writer: Writer, where: str) -> Json:
        trees = [packed.unpack() for packed in members.fitted]
        return {"is_class": members.is_class, "trees": write_trees(trees, writer, f"{where}.trees")}

    def _read_members(self, found: Json, reader: Reader, where: str) -> TreeMembers:
        fits = isinstance(found, dict) and set(found) == {"is_class", "trees"}
        expect(fits and isinstance(found["is_class"], bool), where, "must have trees, of classes or not")
        members = TreeMembers(found["is_class"])
        members.fitted.extend(self.stack(found["trees"], reader, f"{where}.trees").packed())
        return members
