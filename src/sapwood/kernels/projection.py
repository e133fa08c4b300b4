"""One gradient and hessian for all scores of a row, so that one tree can be grown for them."""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel


@lean_kernel
def project(gradient, hessian, direction, first, last, out):
    """The sums of r_k g_k and of r_k² h_k over the scores k, for a block of rows; OUT out (2, rows)."""
    for row in range(first, last):
        out[0, row] = out[1, row] = 0.0
    for k in range(len(direction)):
        r = direction[k]
        for row in range(first, last):
            out[0, row] += r * gradient[k, row]
            out[1, row] += r * r * hessian[k, row]
