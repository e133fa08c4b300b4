"""Codes of one byte say the same as thresholds, however many there are."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood.predictor.places import CUTS, Places


def codes_at(places: Places, cells: np.ndarray) -> list[np.ndarray]:
    """The specification of a code, for each place of the only column."""
    column = places.coding.columns[0]
    depth, first = int(column["depth"]), int(column["first"])
    last_level = first + sum(16**level for level in range(1, depth))
    cuts = places.coding.cuts[last_level : last_level + 16**depth]
    counts = (cuts[None, :] < cells[:, None]).sum(axis=1)
    found = []
    for place in places.coding.places:
        code = np.clip(counts - int(place["below"]), 0, 255)
        found.append(np.where(np.isnan(cells), int(place["missing"]), code))
    return found


@pytest.mark.parametrize("n_cuts", [1, 15, 16, 254, 255, 256, 600, 5000])
def test_a_code_is_above_that_of_a_split_where_the_cell_is_above_its_cut(n_cuts: int) -> None:
    rng = np.random.default_rng(n_cuts)
    cut = rng.permutation(np.sort(rng.normal(size=n_cuts)))
    missing_left = rng.random(n_cuts) < 0.5
    places = Places.of(np.zeros(n_cuts, dtype=np.int64), cut, missing_left, np.zeros(n_cuts, dtype=np.int64))
    probes = rng.choice(cut, min(n_cuts, 200))
    cells = np.concatenate([probes, np.nextafter(probes, -9), np.nextafter(probes, 9), [np.inf, -np.inf, np.nan]])
    codes = codes_at(places, cells)
    for split in rng.choice(n_cuts, min(n_cuts, 100), replace=False):
        goes_right = codes[places.place[split]] > places.code[split]
        assert (goes_right == np.where(np.isnan(cells), not missing_left[split], cells > cut[split])).all()
    assert places.n_places == len(np.unique(np.argsort(np.argsort(cut)) // CUTS * 2 + missing_left))


def test_columns_are_asked_for_once_and_in_order() -> None:
    feature = np.array([5, 2, 5, 9])
    places = Places.of(feature, np.array([0.0, 1.0, 2.0, np.nan]), np.zeros(4, dtype=bool), np.array([0, 0, 0, 3]))
    assert places.features == [2, 5, 9]
    assert (places.n_places, places.n_categories) == (2, 1)
    assert places.narrow().columns["feature"].tolist() == [0, 1, 2]
    assert places.coding.columns["feature"].tolist() == [2, 5, 9]
