"""Elementary functions next to NumPy's in long double, of which 11 more bits are right."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln

from sapwood.elementary import exp, exp2, log, log1p, log1p_exp, log2, log_gamma, logistic, power
from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.gamma_function import half_step_ratio
from sapwood.kernels.logarithm import log_of_normal, quick_log

Floats = NDArray[np.float64]
_DRAWS = np.random.default_rng(0)
_SCORES = np.concatenate([np.linspace(-708, 709, 50_001), _DRAWS.normal(size=50_000), 1e-5 * _DRAWS.normal(size=999)])
_SIZES = np.concatenate([2.0 ** _DRAWS.uniform(-1022, 1024, 50_000), 2.0 ** _DRAWS.uniform(-2, 2, 50_000)])
_NEAR_ONE = 1.0 + 1e-3 * _DRAWS.normal(size=20_000)
_LONG = np.finfo(np.longdouble).nmant > 60  # elsewhere there is nothing to compare with

needs_long_double = pytest.mark.skipif(not _LONG, reason="long double is float64 here")


def _units(found: Floats, exact: NDArray[np.longdouble]) -> float:
    """The largest error, in units of the last place."""
    return float(np.max(np.abs(found - exact) / np.spacing(np.abs(exact.astype(np.float64)))))


@needs_long_double
@pytest.mark.parametrize(
    ("function", "exact", "x", "most"),
    [
        (exp, np.exp, _SCORES, 1.0),
        (exp2, np.exp2, _SCORES, 1.0),
        (logistic, lambda x: 1 / (1 + np.exp(-x)), _SCORES, 3.0),
        (log, np.log, np.concatenate([_SIZES, _NEAR_ONE]), 1.0),
        (log2, np.log2, _SIZES, 1.5),
        (log1p, np.log1p, np.concatenate([_SIZES[_SIZES < 1e300], -_DRAWS.random(9_999)]), 2.5),
        (log1p_exp, lambda x: np.logaddexp(np.longdouble(0), x), _SCORES, 3.0),
    ],
    ids=["exp", "exp2", "logistic", "log", "log2", "log1p", "log1p_exp"],
)
def test_functions_are_right_to_the_last_places(
    function: Callable[[Floats], Floats], exact: Callable[[Any], Any], x: Floats, most: float
) -> None:
    assert _units(function(x), exact(x.astype(np.longdouble))) <= most


def test_exponentials_of_what_is_no_ordinary_number() -> None:
    x = np.array([-inf, -1e300, -745.2, 709.8, 1e300, inf, nan, 0.0, -0.0])
    expected = np.array([0.0, 0.0, 0.0, inf, inf, inf, nan, 1.0, 1.0])
    np.testing.assert_array_equal(exp(x), expected)
    np.testing.assert_array_equal(exp2(1.5 * x), expected)
    np.testing.assert_allclose(exp([-720.0, -744.0]), np.exp([-720.0, -744.0]), atol=5e-324, rtol=1e-15)
    np.testing.assert_array_equal(exp2([-1074.0, -1073.0, -1075.5, 1023.0]), [5e-324, 1e-323, 0.0, 2.0**1023])


def test_the_logistic_function_of_what_is_no_ordinary_number() -> None:
    found = logistic(np.array([-inf, -1e300, -800.0, 800.0, 1e300, inf, nan, 0.0]))
    assert (found[:3] < 1e-300).all()
    np.testing.assert_array_equal(found[3:], [1.0, 1.0, 1.0, nan, 0.5])


def test_logarithms_of_what_is_no_ordinary_number() -> None:
    x = np.array([0.0, -0.0, -1.0, -5e-324, -inf, inf, nan, 1.0])
    np.testing.assert_array_equal(log(x), [-inf, -inf, nan, nan, nan, inf, nan, 0.0])
    small = 5e-324 * np.array([1.0, 3.0, 2.0**40, 2.0**51 + 1])
    np.testing.assert_allclose(log(small), np.log(small), rtol=3e-16)


def test_powers_of_two_have_exact_logarithms() -> None:
    k = np.arange(-1022.0, 1024.0)
    np.testing.assert_array_equal(log2(exp2(k)), k)
    np.testing.assert_array_equal(exp2(k), np.ldexp(1.0, k.astype(int)))


def test_sums_with_one_of_what_is_no_ordinary_number() -> None:
    np.testing.assert_array_equal(log1p_exp([-inf, -800.0, 800.0, 1e300, inf, nan]), [0.0, 0.0, 800.0, 1e300, inf, nan])
    np.testing.assert_array_equal(log1p([0.0, 5e-324, 1e-300]), [0.0, 5e-324, 1e-300])


def test_powers() -> None:
    x, p = np.abs(_DRAWS.normal(size=999)) * 100, _DRAWS.uniform(0.1, 2, 999)
    np.testing.assert_allclose(power(x, p), x**p, rtol=5e-15)
    np.testing.assert_array_equal(power([0.0, 1.0, inf], 0.5), [0.0, 1.0, inf])


def test_log_gamma() -> None:
    x = np.concatenate([np.arange(1.0, 200.0), 10.0 ** _DRAWS.uniform(-3, 12, 999)])
    np.testing.assert_allclose(log_gamma(x), gammaln(x), rtol=2e-14, atol=1e-14)


def test_half_steps_of_the_gamma_function() -> None:
    for a in (1e-3, 0.5, 1.0, 7.5, 19.9, 20.0, 400.0, 1e6):
        difference = gammaln(a + 0.5) - gammaln(a)  # of large numbers, so that digits are lost
        assert half_step_ratio(a) == pytest.approx(np.exp(difference), rel=1e-15 * max(gammaln(a), 10.0))
    assert half_step_ratio(0.5) == pytest.approx(1 / np.sqrt(np.pi), rel=2e-15)


def test_shapes_and_kinds_of_arrays() -> None:
    table = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    for given in (table, table.T, table[:, ::2], table.astype(int), table.tolist()):
        np.testing.assert_allclose(log(given), np.log(np.asarray(given, dtype=float)), rtol=1e-15)
    frozen = np.ones(3)
    frozen.flags.writeable = False
    np.testing.assert_array_equal(log(frozen), np.zeros(3))
    assert exp(np.empty(0)).shape == (0,)
    assert exp(0.0).shape == ()
    assert float(exp(0.0)) == 1.0


@lean_kernel
def _quick_logs(x, out):
    for i in range(len(x)):
        out[i] = quick_log(x[i])


@needs_long_double
def test_the_logarithm_from_a_table() -> None:
    x = np.concatenate([_SIZES, _NEAR_ONE, [1.0]])
    found, exact = np.empty_like(x), np.log(x.astype(np.longdouble))
    _quick_logs(x, found)
    is_near = np.abs(exact) < 0.5
    assert np.abs(found - exact)[is_near].max() <= 2.0**-53
    assert _units(found[~is_near], exact[~is_near]) <= 1.5
    assert found[-1] == 0.0


@lean_kernel
def _logs(x, out):
    for i in range(len(x)):
        out[i] = log_of_normal(x[i])


def test_the_logarithm_of_normal_numbers_is_that_of_all() -> None:
    out = np.empty_like(_SIZES)
    _logs(_SIZES, out)
    np.testing.assert_array_equal(out, log(_SIZES))


def test_no_function_depends_on_its_place_in_an_array() -> None:
    x = np.abs(_SCORES[:203]) + 0.5
    for function in (exp, exp2, logistic, log, log2, log1p, log1p_exp, log_gamma):
        np.testing.assert_array_equal(np.array([float(function(one)) for one in x]), function(x))


def test_logarithms_do_not_depend_on_the_precision_of_decimals_of_the_caller() -> None:
    code = (
        "import decimal\n"
        "decimal.getcontext().prec = 5\n"
        "decimal.getcontext().traps[decimal.Inexact] = True\n"
        "from sapwood.kernels.logarithm import POINTS\n"
        "import numpy as np\n"
        "print(np.abs(POINTS[:, 2] - np.log(POINTS[:, 0])).max() < 1e-15)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"
