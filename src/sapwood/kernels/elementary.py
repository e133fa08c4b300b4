"""Elementary functions of all numbers of a flat array, in their place."""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.exponential import exponential, logistic, power_of_two
from sapwood.kernels.gamma_function import log_gamma
from sapwood.kernels.logarithm import binary_logarithm, log_one_plus, log_one_plus_exp, logarithm


@lean_kernel
def write_exp(x):
    """e^x; OUT x."""
    for i in range(len(x)):
        x[i] = exponential(x[i])


@lean_kernel
def write_exp2(x):
    """2^x; OUT x."""
    for i in range(len(x)):
        x[i] = power_of_two(x[i])


@lean_kernel
def write_logistic(x):
    """1 / (1 + e^-x); OUT x."""
    for i in range(len(x)):
        x[i] = logistic(x[i])


@lean_kernel
def write_log(x):
    """log(x); OUT x."""
    for i in range(len(x)):
        x[i] = logarithm(x[i])


@lean_kernel
def write_log2(x):
    """log2(x); OUT x."""
    for i in range(len(x)):
        x[i] = binary_logarithm(x[i])


@lean_kernel
def write_log1p(x):
    """log(1 + x); OUT x."""
    for i in range(len(x)):
        x[i] = log_one_plus(x[i])


@lean_kernel
def write_log1p_exp(x):
    """log(1 + e^x); OUT x."""
    for i in range(len(x)):
        x[i] = log_one_plus_exp(x[i])


@lean_kernel
def write_log_gamma(x):
    """The logarithm of Γ(x); OUT x."""
    for i in range(len(x)):
        x[i] = log_gamma(x[i])
