"""The specification of a search among many levels: sums by level in a dictionary, every set one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Best(NamedTuple):
    """Levels that go left (0: missing ones) and the gain of the shrunk sums."""

    left: frozenset[int]
    gain: float


def believed_sums(codes: Array, gradient: Array, hessian: Array, doubt: float) -> dict[int, float]:
    """What each level is believed to differ from the mean of the node; missing rows count in full."""
    found = {}
    for code in np.unique(codes):
        own = codes == code
        d = gradient[own].sum() - hessian[own].sum() * gradient.sum() / hessian.sum()
        q = max(((gradient[own] - gradient.mean()) ** 2).sum(), d**2 / own.sum())
        found[int(code)] = d if code == 0 else d * max(0.0, 1.0 - doubt * q / d**2) if d else 0.0
    return found


def best_set(codes: Array, g: Array, h: Array, rules: Any, doubt: float) -> Best | None:
    """The best set of levels of a node of plain rules, whose rows have these codes, gradients and hessians."""
    gradient, hessian = g * rules["gradient_unit"], h * rules["hessian_unit"]
    G, H, lambda_ = gradient.sum(), hessian.sum(), rules["reg_lambda"]
    levels = [int(code) for code in np.unique(codes) if code > 0 and (g[codes == code].any() or h[codes == code].any())]
    deltas = believed_sums(codes, gradient, hessian, doubt)
    counted = [0, *levels] if (codes == 0).any() else levels
    rest = sum(deltas[code] for code in counted)

    def sum_of(code: int) -> float:
        """Gradient of a level: its share of the node's, and what it is believed to differ by."""
        own = hessian[codes == code].sum()
        return float(deltas[code] + own / H * (G - rest)) if doubt else float(gradient[codes == code].sum())

    def key(code: int) -> tuple[float, int]:
        own = codes == code
        if doubt:
            return deltas[code] / (hessian[own].sum() + rules["cat_smooth"] + lambda_), code
        return gradient[own].sum() / (hessian[own].sum() + rules["cat_smooth"]), code

    ordered, n = sorted(levels, key=key), len(levels)
    single = n <= rules["max_cat_to_onehot"]
    sets = [ordered[i : i + 1] if single else ordered[: i + 1] for i in range(n)]
    allowed = [s for s in sets if single or min(len(s), n - len(s)) <= rules["max_cat_threshold"]]
    some_missing = bool(g[codes == 0].any() or h[codes == 0].any())
    best: Best | None = None
    for left in (frozenset(s) | more for s in allowed for more in (frozenset(), frozenset({0}))[: 1 + some_missing]):
        inside = np.isin(codes, list(left))
        H_left = hessian[inside].sum()
        if min(H_left, H - H_left) < max(rules["min_child_weight"], 1e-300):
            continue
        G_left = sum(sum_of(code) for code in left)
        worth = G_left**2 / (H_left + lambda_) + (G - G_left) ** 2 / (H - H_left + lambda_) - G**2 / (H + lambda_)
        if worth > 2e-9 and (best is None or worth / 2 > best.gain + 1e-9):
            best = Best(left, float(worth / 2))
    return best
