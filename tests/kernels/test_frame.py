"""Frames: records of addresses that kernels see as arrays."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.frame import Array, Layout

TOTALS = Layout(
    scale=np.float64,
    weight=Array(np.float64, "n_rows"),
    sums=Array(np.float64, "n_rows", "n_sums"),
    cube=Array(np.uint8, "n_rows", 3, "n_sums"),
    flags=Array(np.bool_, 2),
)


@lean_kernel
def add_scaled(frame):
    for i in range(len(frame.weight)):
        for k in range(frame.sums.shape[1]):
            frame.sums[i, k] += frame.scale * frame.weight[i]
            frame.cube[i, 2, k] = 10 * i + k
    frame.scale = 5.0
    return len(frame.flags)


def test_kernels_see_the_arrays_and_their_shapes():
    weight, sums, cube = np.arange(4.0), np.zeros((4, 2)), np.zeros((4, 3, 2), np.uint8)
    frame = TOTALS.fill(weight=weight, sums=sums, cube=cube, scale=2.0, flags=np.zeros(2, np.bool_))
    assert add_scaled(frame[0]) == 2
    assert (frame["n_rows"][0], frame["n_sums"][0], frame["scale"][0]) == (4, 2, 5.0)
    np.testing.assert_array_equal(sums, np.column_stack([2 * weight, 2 * weight]))
    np.testing.assert_array_equal(cube[:, 2], 10 * np.arange(4)[:, None] + np.arange(2))
    assert not cube[:, :2].any()


def test_an_array_of_another_type_is_refused():
    with pytest.raises(TypeError, match="weight is not a contiguous 1-dimensional array of float64"):
        TOTALS.fill(weight=np.zeros(3, np.float32))


def test_a_view_that_is_not_contiguous_is_refused():
    with pytest.raises(TypeError, match="sums is not a contiguous"):
        TOTALS.fill(sums=np.zeros((4, 4))[:, ::2])


@pytest.mark.parametrize("n", [0, 5])
def test_arrays_of_different_lengths_are_refused(n):
    with pytest.raises(ValueError, match="sums has the length 3 where n_rows is"):
        TOTALS.fill(weight=np.zeros(n), sums=np.zeros((3, 2)))


def test_a_fixed_length_is_checked():
    with pytest.raises(ValueError, match="flags has the length 3 where 2 is 2"):
        TOTALS.fill(flags=np.zeros(3, np.bool_))


def test_an_update_replaces_arrays_and_their_sizes():
    frame = TOTALS.fill(weight=np.zeros(3))
    TOTALS.update(frame[0], weight=np.zeros(5), scale=3.0)
    assert (frame["n_rows"][0], frame["scale"][0]) == (5, 3.0)


def test_a_frame_allocates_its_arrays():
    frame, arrays = TOTALS.allocate(n_rows=3, n_sums=2)
    assert {name: array.shape for name, array in arrays.items()} == {
        "weight": (3,),
        "sums": (3, 2),
        "cube": (3, 3, 2),
        "flags": (2,),
    }
    arrays["weight"][:] = 1.0
    frame["scale"] = 0.5
    add_scaled(frame[0])
    np.testing.assert_array_equal(arrays["sums"], np.full((3, 2), 0.5))


def test_a_frame_within_a_frame():
    outer = Layout(totals=TOTALS, x=Array(np.int64, "n"))

    @lean_kernel
    def weigh(frame):
        return frame.totals.weight.sum() + frame.x[1]

    weight, x = np.arange(4.0), np.array([7, 8])
    frame = outer.fill(x=x)
    frame["totals"] = TOTALS.fill(weight=weight)
    assert weigh(frame[0]) == 14.0


@lean_kernel
def last_of(frame):
    return frame.items[len(frame.items) - 1].size


@pytest.mark.parametrize("fields", [["size"], ["other", "size"], ["size", "other"]])
def test_a_kernel_reads_frames_that_differ_in_the_records_of_their_arrays_alone(fields):
    items = np.zeros(3, dtype=[(name, np.int64) for name in fields])
    items["size"] = [5, 6, 7]
    assert last_of(Layout(items=Array(items.dtype, "n")).fill(items=items)[0]) == 7


def test_the_shapes_of_arrays_are_part_of_the_type_of_a_frame():
    dtypes = {Layout(x=Array(np.int8, *shape)).dtype for shape in [("n",), ("m",), ("n", "m"), ("n", 2)]}
    assert len(dtypes) == 4
    assert Layout(x=Array(np.int8, "n")).dtype in dtypes


def test_views_are_bounds_checked_on_request():
    code = (
        "import numpy as np\n"
        "from sapwood.kernels._jit import lean_kernel\n"
        "from sapwood.kernels.frame import Array, Layout\n"
        "layout = Layout(x=Array(np.float64, 'n'))\n"
        "@lean_kernel\n"
        "def read(frame, i):\n"
        "    return frame.x[i]\n"
        "x = np.zeros(3)\n"
        "try:\n"
        "    read(layout.fill(x=x)[0], 3)\n"
        "except IndexError:\n"
        "    print('checked')\n"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "checked"
