"""Derivatives and losses of rows by the number of their loss, for kernels that advance whole rounds."""

from __future__ import annotations

from sapwood.kernels._jit import inner_kernel
from sapwood.kernels.exponential import add_exponential, class_derivatives, logistic, logistic_derivatives
from sapwood.kernels.logarithm import logarithm

SQUARED, LOGISTIC, MULTINOMIAL, SQUARED_OF_TARGETS = 0, 1, 2, 3
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
    """Derivatives (scores, rows) of the loss by y (targets, rows), as `Loss.derivatives` has them.

    OUT gradient, hessian.
    """
    if loss in (SQUARED, SQUARED_OF_TARGETS):
        for k in range(len(y)):
            for row in range(y.shape[1]):
                gradient[k, row], hessian[k, row] = score[k, row] - y[k, row], 1.0
    elif loss == LOGISTIC:
        logistic_derivatives(y[0], score[0], LEAST_HESSIAN, gradient[0], hessian[0])
    else:
        write_most(score, most)
        total[:] = 0.0
        for k in range(len(score)):
            add_exponential(score[k], most, gradient[k], total)
        for k in range(len(score)):
            class_derivatives(y[0], float(k), total, LEAST_HESSIAN, gradient[k], hessian[k])


@inner_kernel
def measure(loss, y_of_targets, score, factors, parts, out):
    """Squared errors of rows, or -log of the probability of their classes; OUT out; scratch: parts (3, rows).

    Of several targets it is the mean of their losses times their factors, as `PerTarget.losses` has it.
    """
    y = y_of_targets[0]
    if loss == SQUARED:
        for row in range(len(y)):
            out[row] = (y[row] - score[0, row]) * (y[row] - score[0, row])
        return
    if loss == SQUARED_OF_TARGETS:
        out[:] = 0.0
        for k in range(len(score)):
            for row in range(len(y)):
                error = y_of_targets[k, row] - score[k, row]
                out[row] += factors[k] * (0.5 * (error * error))
        for row in range(len(y)):
            out[row] /= len(score)
        return
    if loss == LOGISTIC:
        for row in range(len(y)):
            second = logistic(score[0, row])
            out[row] = second if y[row] == 1.0 else 1.0 - second
    else:
        most, total, part = parts[0], parts[1], parts[2]
        write_most(score, most)
        total[:] = 0.0
        for k in range(len(score)):
            add_exponential(score[k], most, part, total)
            for row in range(len(y)):
                out[row] = part[row] if y[row] == k else out[row]
        for row in range(len(y)):
            out[row] /= total[row]
    for row in range(len(y)):
        out[row] = -logarithm(max(out[row], LEAST_SHARE))
