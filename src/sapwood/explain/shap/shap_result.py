"""Shapley values and interaction values, as results that users get."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.errors import MissingExtraError, ParameterError
from sapwood.explain.shap.display_data import seconds_and_text
from sapwood.one_line import one_line
from sapwood.result import Part, Result, TextTable
from sapwood.show.number import number_text

SHOWN_FEATURES = 10


@dataclass(frozen=True, eq=False, repr=False)
class _Shap(Result):
    """What values of features and of pairs have in common; several outputs are the last axis of the numbers."""

    values: Floats
    base_values: Floats  # (rows,), or (rows, outputs)
    data: Array  # (rows, features), for display: numbers, or objects if there are categories, dates or durations
    feature_names: tuple[str, ...]
    output_names: tuple[Any, ...]
    opposite: tuple[Any, ...] = ()  # the other of two classes that share one score: its values are the negatives
    scale: str = ""  # what the scores are: probability, prediction, log-odds, log of the prediction, score

    @property
    def n_outputs(self) -> int:
        """Number of scores that are explained."""
        return len(self.output_names)

    def for_output(self, output: Any) -> Self:
        """The part about one output, by its name (such as a class) or its position; if names are numbers, by name."""
        k = self._number_of(output)
        if self.n_outputs == 1:
            return self
        values, base_values = self.values[..., k], self.base_values[:, k]
        return replace(self, values=values, base_values=base_values, output_names=(self.output_names[k],))

    def mean_abs(self) -> Floats:
        """Mean size of the values over the rows."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    def _number_of(self, output: Any) -> int:
        if output in self.output_names:
            return self.output_names.index(output)
        # where names are numbers, 0 may be meant as a name that does not exist: a position would be a silent mistake
        by_position = not any(isinstance(name, numbers.Real) for name in self.output_names)
        is_number = isinstance(output, numbers.Integral) and not isinstance(output, bool)
        if by_position and is_number and -self.n_outputs <= output < self.n_outputs:
            return int(output) % self.n_outputs
        if output in self.opposite:
            raise ParameterError(
                f"output={output!r} is not allowed: the values are about the score of {self.output_names[0]!r}, and "
                f"those of {output!r} are their negatives. Use output={self.output_names[0]!r}."
            )
        meant = [name for name in self.output_names if str(name) == str(output)]
        if meant:
            raise ParameterError(
                f"output={output!r} is not allowed: this is a {type(output).__name__}, but the name of the output is "
                f"a {type(meant[0]).__name__}. Use output={meant[0]!r}."
            )
        number = f", or a number from 0 to {self.n_outputs - 1}" if by_position else ""
        raise ParameterError(
            f"output={output!r} is not allowed: it must be one of {', '.join(map(repr, self.output_names))}{number}."
        )

    def _title(self, what: str) -> str:
        rows, features = self.data.shape
        outputs = ", ".join(one_line(name) for name in self.output_names)
        scale = f" ({self.scale})" if self.scale and self.output_names != (self.scale,) else ""
        return f"{what}: {rows} rows, {features} features, output {outputs}{scale}"


@dataclass(frozen=True, eq=False, repr=False)
class ShapValues(_Shap):
    """Shapley values (rows, features), or (rows, features, outputs): a row's sum and its base value are its score."""

    def to_shap(self) -> Any:
        """The same as a `shap.Explanation`, for the plots of the package shap."""
        try:
            import shap
        except ImportError as error:
            raise MissingExtraError(
                "to_shap needs the package shap, which is not installed. Install it with: pip install shap"
            ) from error
        names = None if self.n_outputs == 1 else [str(name) for name in self.output_names]
        data, text = seconds_and_text(self.data)
        return shap.Explanation(
            self.values.copy(),
            base_values=self.base_values.copy(),
            data=data,
            display_data=text,
            feature_names=list(self.feature_names),
            output_names=names,
        )

    def _parts(self) -> Iterator[Part]:
        """Features by the mean size of their values, the largest first; sizes of outputs are added up."""
        size = self.mean_abs().reshape(len(self.feature_names), -1).sum(axis=1)
        order = np.argsort(-size, kind="stable")
        rows = [(one_line(self.feature_names[j]), number_text(float(size[j]), 4)) for j in order[:SHOWN_FEATURES]]
        yield self._title("Shapley values")
        yield "  mean size:"
        yield _indented(rows, len(order))


@dataclass(frozen=True, eq=False, repr=False)
class ShapInteractions(_Shap):
    """Shapley interaction values (rows, features, features), with several outputs a fourth axis.

    The value of a pair is split between its two entries; the diagonal has the main effects of the features. A row of
    the matrix sums up to the Shapley value of its feature.
    """

    def summed(self) -> ShapValues:
        """The Shapley values of the features."""
        return ShapValues(**vars(self) | {"values": self.values.sum(axis=2)})

    def _parts(self) -> Iterator[Part]:
        """Pairs by the mean size of their values, both entries together, the largest first."""
        n = len(self.feature_names)
        size = self.mean_abs().reshape(n, n, -1).sum(axis=2)
        first, second = np.triu_indices(n, 1)
        order = np.argsort(-size[first, second], kind="stable")
        pairs = [(first[k], second[k]) for k in order[:SHOWN_FEATURES]]
        names = [f"{one_line(self.feature_names[i])} × {one_line(self.feature_names[j])}" for i, j in pairs]
        texts = [number_text(2.0 * float(size[pair]), 4) for pair in pairs]
        yield self._title("Shapley interaction values")
        yield "  mean size of pairs:"
        yield _indented(list(zip(names, texts, strict=True)), len(order))


def _indented(rows: list[tuple[str, str]], n_all: int) -> TextTable:
    rest = n_all - len(rows)
    return TextTable((), rows, rest=f"{rest} more" if rest else "", sides="l", indent=2)
