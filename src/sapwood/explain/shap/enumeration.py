"""Shapley values by their definition, over every subset of the features: any prediction function, few features."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.threads import blocks

Array = NDArray[Any]
Floats = NDArray[np.float64]
Predict = Callable[[Array], Floats]
"""From cells (rows, columns) to predictions (rows)."""

MOST_PLAYERS = 12
MOST_PREDICTED = 1 << 16  # rows at a time


def shapley_of_game(worth: Floats) -> Floats:
    """Shapley values (players, …) of a game.

    `worth[S]` is what the players in S get together; bit i of the number S says whether player i is in it.
    """
    n = len(worth).bit_length() - 1
    sets = np.arange(len(worth))
    size = np.array([each.bit_count() for each in range(len(worth))])
    weight = np.array([1.0 / (n * math.comb(n - 1, k)) for k in range(n)])
    values = np.zeros((n, *worth.shape[1:]))
    for i in range(n):
        without = sets[sets >> i & 1 == 0]
        gain = worth[without | 1 << i] - worth[without]
        values[i] = np.tensordot(weight[size[without]], gain, axes=1)
    return values


def worth_of_subsets(predict: Predict, cells: Array, background: Array, players: Sequence[int]) -> Floats:
    """For each subset of the players (columns), the mean prediction of every row, (subsets, rows).

    Columns in the subset are the row's own; all others are those of each row of the background.
    """
    n_rows, n_others = len(cells), len(background)
    worth = np.empty((1 << len(players), n_rows))
    own, others = np.repeat(cells, n_others, axis=0), np.tile(background, (n_rows, 1))
    for subset in range(len(worth)):
        mixed = others.copy()
        present = [j for i, j in enumerate(players) if subset >> i & 1]
        mixed[:, present] = own[:, present]
        worth[subset] = predict(mixed).reshape(n_rows, n_others).mean(axis=1)
    return worth


def enumerate_values(predict: Predict, cells: Array, background: Array, players: Sequence[int]) -> Floats:
    """Values (rows, columns) of a prediction function that asks for no other columns than the players."""
    values = np.zeros(cells.shape)
    for start, stop in blocks(len(cells), max(1, MOST_PREDICTED // len(background))):
        worth = worth_of_subsets(predict, cells[start:stop], background, players)
        values[start:stop, players] = shapley_of_game(worth).T
    return values
