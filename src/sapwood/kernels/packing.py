"""What packed trees keep of classes: whole-number weights, from which the impurities of nodes follow."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel

MOST = 4294967296.0  # weights of nodes are less: they are stored in four bytes


@lean_kernel
def write_class_weights(shares, weight, out):
    """Weights of the classes in each node, from their shares; returns whether these follow from them; OUT out."""
    for node in range(len(out)):
        total = 0.0
        for k in range(out.shape[1]):
            own = np.rint(shares[node, k] * weight[node])
            if not 0.0 <= own < MOST:
                return False
            out[node, k] = np.uint32(own)
            total += own
        if not 0.0 < total < MOST:
            return False
        for k in range(out.shape[1]):
            if np.float64(out[node, k]) / total != shares[node, k]:
                return False
    return True


@lean_kernel
def gini_of_two(weights, impurity):
    """Gini impurity of nodes, as growth computes it of two classes; OUT impurity."""
    for node in range(len(impurity)):
        w, s = 0.0, np.float64(weights[node, 1])
        for k in range(weights.shape[1]):
            w += np.float64(weights[node, k])
        impurity[node] = max(2.0 * s * (w - s) / w, 0.0) / w


@lean_kernel
def gini_of_many(weights, impurity):
    """The same as of more classes, or of vectors; OUT impurity."""
    for node in range(len(impurity)):
        w, squares = 0.0, 0.0
        for k in range(weights.shape[1]):
            own = np.float64(weights[node, k])
            w += own
            squares += own * own
        impurity[node] = max(w - squares / w, 0.0) / w
