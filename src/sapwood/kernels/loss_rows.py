"""Derivatives and losses of rows by the number of their loss, for kernels that advance whole rounds."""

from __future__ import annotations

from sapwood.kernels._jit import inner_kernel
from sapwood.kernels.exponential import add_exponential, class_derivatives, exponential, logistic, logistic_derivatives
from sapwood.kernels.logarithm import logarithm

SQUARED, LOGISTIC, MULTINOMIAL = 0, 1, 2
LEAST_HESSIAN = 1e-16  # of losses of classes
LEAST_SHARE = 1e-16  # of a class: the logarithm of an impossible one must be finite


@inner_kernel
def write_most(score, most):
    """The largest score of each row; OUT most."""
    for row in range(len(most)):
        most[row] = score[0, row]
    for k in range(1, len(score)):
        for row in range(len(most)):
            most[row] = max(most[row], score[k, row])


@inner_kernel
def differentiate(loss, y, score, most, total, gradient, hessian):
    """Derivatives (scores, rows) of the loss, as `Loss.derivatives` has them; OUT gradient, hessian."""
    if loss == SQUARED:
        for row in range(len(y)):
            gradient[0, row], hessian[0, row] = score[0, row] - y[row], 1.0
    elif loss == LOGISTIC:
        logistic_derivatives(y, score[0], LEAST_HESSIAN, gradient[0], hessian[0])
    else:
        write_most(score, most)
        total[:] = 0.0
        for k in range(len(score)):
            add_exponential(score[k], most, gradient[k], total)
        for k in range(len(score)):
            class_derivatives(y, float(k), total, LEAST_HESSIAN, gradient[k], hessian[k])


@inner_kernel
def share_of_class(y, score, row):
    """The probability of a row's class, of several."""
    most, total = score[0, row], 0.0
    for k in range(1, len(score)):
        most = max(most, score[k, row])
    for k in range(len(score)):
        total += exponential(score[k, row] - most)
    return exponential(score[int(y[row]), row] - most) / total


@inner_kernel
def measure(loss, y, score, rows, out):
    """Squared errors of some rows, or -log of the probability of their classes; OUT out."""
    for i in range(len(rows)):
        row = rows[i]
        if loss == SQUARED:
            out[i] = (y[row] - score[0, row]) * (y[row] - score[0, row])
            continue
        if loss == LOGISTIC:
            second = logistic(score[0, row])
            share = second if y[row] == 1.0 else 1.0 - second
        else:
            share = share_of_class(y, score, row)
        out[i] = -logarithm(max(share, LEAST_SHARE))
