"""Elementary functions of all numbers of a flat array, in their place."""

from __future__ import annotations

from sapwood.kernels._jit import Kernel, lean_kernel
from sapwood.kernels.exponential import exponential, logistic, power_of_two
from sapwood.kernels.gamma_function import log_gamma
from sapwood.kernels.logarithm import binary_logarithm, log_one_plus, log_one_plus_exp, logarithm


def _each(function: Kernel) -> Kernel:
    @lean_kernel
    def write(x):
        """The function of all numbers; OUT x."""
        for i in range(len(x)):
            x[i] = function(x[i])

    return write


write_exp = _each(exponential)
write_exp2 = _each(power_of_two)
write_logistic = _each(logistic)
write_log = _each(logarithm)
write_log2 = _each(binary_logarithm)
write_log1p = _each(log_one_plus)
write_log1p_exp = _each(log_one_plus_exp)
write_log_gamma = _each(log_gamma)
