import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.kernels.projection import project, write_direction, write_factors
from strategies import examples


def twin(gradient, hessian, direction):
    return np.array([direction @ gradient, direction**2 @ hessian])


@examples
@given(st.integers(1, 5), st.integers(0, 9), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32 - 1))
def test_projections_are_those_of_the_twin(n_scores, n_rows, dtype, seed):
    rng = np.random.default_rng(seed)
    gradient, hessian = rng.normal(size=(2, n_scores, n_rows)).round(1).astype(dtype)
    direction, out = rng.normal(size=n_scores), np.full((2, n_rows), np.nan, dtype=dtype)
    project(gradient, hessian, np.stack([direction, direction**2]), 0, n_rows, out)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(out, twin(gradient, hessian, direction), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (2, 5), (7, 7)])
def test_other_rows_stay_as_they_are(first, last):
    rng = np.random.default_rng(0)
    gradient, hessian = rng.normal(size=(2, 3, 7))
    direction, out = np.array([1.0, -1.0, 0.5]), np.full((2, 7), -5.0)
    project(gradient, hessian, np.stack([direction, direction**2]), first, last, out)
    np.testing.assert_allclose(out[:, first:last], twin(gradient, hessian, direction)[:, first:last], rtol=1e-12)
    assert (np.delete(out, np.s_[first:last], axis=1) == -5.0).all()


@pytest.mark.parametrize("sums_to_zero", [False, True])
def test_factors_are_directions_times_scales(sums_to_zero):
    direction, factors = np.empty(4), np.empty((2, 4))
    scales = np.array([[1.0, 2.0, 0.0, 0.5], [1.0, 3.0, 0.0, 1.0]])
    write_direction(np.uint64(9), sums_to_zero, direction)
    write_factors(np.uint64(9), sums_to_zero, scales, factors)
    np.testing.assert_array_equal(factors, np.stack([direction, direction * direction]) * scales)
