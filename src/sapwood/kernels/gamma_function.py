"""The gamma function, by Stirling's series.

The series is as exact as a float64 from some argument on; smaller arguments are raised to it by Γ(x + 1) = x Γ(x).
"""

from __future__ import annotations

import math

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.exponential import exponential
from sapwood.kernels.logarithm import logarithm

LEAST_STIRLING = 10.0
HALF_LOG_TWO_PI = 0.9189385332046728
S1, S3, S5, S7 = 1 / 12, -1 / 360, 1 / 1260, -1 / 1680
S9, S11, S13 = 1 / 1188, -691 / 360360, 1 / 156

LEAST_RATIO = 20.0
T1, T3, T5, T7, T9, T11 = -1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224


@lean_kernel
def log_gamma(x):
    """The logarithm of Γ(x) for x above 0; the error is some units of the last place of x log x."""
    if not x > 0.0:
        return math.nan
    raised = 1.0
    while x < LEAST_STIRLING:
        raised *= x
        x += 1.0
    z = 1.0 / (x * x)
    series = (S1 + z * (S3 + z * (S5 + z * (S7 + z * (S9 + z * (S11 + z * S13)))))) / x
    return (x - 0.5) * logarithm(x) - x + HALF_LOG_TWO_PI + series - logarithm(raised)


@inner_kernel
def half_step_ratio(a):
    """Γ(a + 1/2) / Γ(a) for a above 0, to within some units of the last place."""
    raised = 1.0
    while a < LEAST_RATIO:
        raised *= a / (a + 0.5)
        a += 1.0
    z = 1.0 / (a * a)
    series = (T1 + z * (T3 + z * (T5 + z * (T7 + z * (T9 + z * T11))))) / a
    return raised * math.sqrt(a) * exponential(series)
