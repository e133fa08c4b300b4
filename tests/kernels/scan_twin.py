"""The specification of a scan: every split of a node, one by one, with plain formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SLACK = 1e-9


@dataclass(frozen=True)
class Column:
    """Sums (256, gradient | hessian | rows) of a node's rows by code."""

    sums: Array
    n_codes: int
    is_category: bool = False
    sign: int = 0

    def __repr__(self) -> str:
        sums = {int(code): self.sums[code].tolist() for code in np.flatnonzero(self.sums.any(axis=1))}
        return f"Column({sums}, {self.n_codes}, {self.is_category}, {self.sign})"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Hypothesis would print all 256 codes."""
        printer.text(repr(self))

    @property
    def present(self) -> list[int]:
        return [code for code in range(1, self.n_codes + 1) if self.sums[code, :2].any()]

    @property
    def some_missing(self) -> bool:
        return bool(self.sums[0, :2].any())


@dataclass(frozen=True)
class Split:
    """Codes that go left (0 is missing), and the sums of that side."""

    feature: int
    left: tuple[int, ...]
    sums: tuple[int, int, int]
    gain: float


def leaf(G: float, H: float, rules: Any, lower: float, upper: float) -> float:
    """The w of least G w + (H + lambda) w² / 2 + alpha |w| within the bounds."""
    step = rules["max_delta_step"] or np.inf
    if H + rules["reg_lambda"] <= 0:
        return float(np.clip(0.0, lower, upper))
    w = -np.sign(G) * max(abs(G) - rules["reg_alpha"], 0.0) / (H + rules["reg_lambda"])
    return float(np.clip(np.clip(w, -step, step), lower, upper))


def objective(G: float, H: float, rules: Any, w: float) -> float:
    return float(G * w + (H + rules["reg_lambda"]) * w * w / 2 + rules["reg_alpha"] * abs(w))


@dataclass(frozen=True)
class Node:
    """A node with its columns, rules and bounds."""

    columns: tuple[Column, ...]
    rules: Any
    lower: float = -np.inf
    upper: float = np.inf

    @property
    def total(self) -> Array:
        return self.columns[0].sums.sum(axis=0)

    def splits(self, usable: Array | None = None) -> Iterator[Split]:
        """All splits that are allowed and gain something, in the order in which they are tried."""
        for feature in range(len(self.columns)):
            if usable is None or usable[feature]:
                for left in self.candidates(feature):
                    split = self.split(feature, left)
                    if split is not None:
                        yield split

    def candidates(self, feature: int) -> Iterator[tuple[int, ...]]:
        """Codes that go left, missing ones right first."""
        column = self.columns[feature]
        for side in level_sides(column, self.rules) if column.is_category else number_sides(column):
            yield from (side, (0, *side)) if column.some_missing else (side,)

    def other_side(self, split: Split) -> tuple[int, ...]:
        """Sums of the right child."""
        return tuple(int(a) - b for a, b in zip(self.total, split.sums, strict=True))

    def split(self, feature: int, left: tuple[int, ...]) -> Split | None:
        """The split, or None if it is forbidden or gains nothing."""
        column = self.columns[feature]
        sums = column.sums[list(left)].sum(axis=0)
        rest = self.total - sums
        if not (self._is_large_enough(sums) and self._is_large_enough(rest)):
            return None
        (G_left, H_left), (G_right, H_right), (G, H) = map(self._in_units, (sums, rest, self.total))
        w_left, w_right, w = (
            leaf(g, h, self.rules, self.lower, self.upper) for g, h in ((G_left, H_left), (G_right, H_right), (G, H))
        )
        if column.sign * (w_right - w_left) < 0:
            return None
        before = objective(G, H, self.rules, w)
        after = objective(G_left, H_left, self.rules, w_left) + objective(G_right, H_right, self.rules, w_right)
        if before - after <= SLACK * abs(after):
            return None
        return Split(feature, left, tuple(int(s) for s in sums), before - after)

    def _is_large_enough(self, sums: Array) -> bool:
        rules = self.rules
        heavy = sums[1] > 0 and sums[1] * rules["hessian_unit"] >= rules["min_child_weight"]
        return bool(heavy and sums[2] >= rules["min_child_rows"])

    def _in_units(self, sums: Array) -> tuple[float, float]:
        return sums[0] * self.rules["gradient_unit"], sums[1] * self.rules["hessian_unit"]


def number_sides(column: Column) -> Iterator[tuple[int, ...]]:
    for at in range(len(column.present)):
        yield tuple(column.present[: at + 1])


def level_sides(column: Column, rules: Any) -> Iterator[tuple[int, ...]]:
    """One level against the rest while they are few, else beginnings of their order by gradient."""
    ordered = ordered_levels(column, rules)
    if len(ordered) <= rules["max_cat_to_onehot"]:
        yield from ((code,) for code in ordered)
        return
    for size in range(1, len(ordered) + 1):
        if min(size, len(ordered) - size) <= rules["max_cat_threshold"]:
            yield tuple(ordered[:size])


def ordered_levels(column: Column, rules: Any) -> list[int]:
    """By gradient per (smoothed) hessian; levels without hessian come first or last."""
    g, h = column.sums[:, 0] * rules["gradient_unit"], column.sums[:, 1] * rules["hessian_unit"]
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = g / (h + rules["cat_smooth"])
    return sorted(column.present, key=lambda code: keys[code])
