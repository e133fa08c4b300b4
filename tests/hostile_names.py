"""Names of columns, classes and levels that break what is made of text without care, and models that have them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import sapwood as sw

MARK = "PWNED"  # what every attack would run or make

ATTACKS = (
    f'*/ int {MARK} = system("{MARK}"); /*',
    f"*??/\n/ int {MARK};",
    f'"); DROP TABLE rows; SELECT {MARK} --',
    f"'; DROP TABLE rows; SELECT {MARK} --",
    f'"""\n{MARK} = 1\n"""',
    f"'''; {MARK} = 1 #",
    f"\n{MARK} = 1\n",
    f"\r#define {MARK}",
    f"<script>{MARK}()</script>",
    f'" onmouseover="{MARK}()',
    f"--><{MARK}>",
    f'"]; {MARK} [label="',
    f"=cmd|' /C {MARK}'!A0",
    f"$({MARK})",
    f"`{MARK}`",
    "\\u0022); \\x41 \\N{BULLET}",
)
ODD = (
    *("", " ", "it's", 'say "hi"', "back\\slash\\", "\\", "{}", "{0!r:>{1}}", "%s %n %", "$x_$", "$\\frac{1}{"),
    *("a b", "a_b", "a-b", "a.b", "a|b", "a,b", "a;b", "a\tb", "A_B", "e\u0301", "\u00e9", "&amp;"),
    *("class", "None", "lambda", "int", "return", "NULL", "select", "rows", "score", "m0", "c0", "s0", "EXP", "key"),
    *("??/", "??'", "//", "--", "/*", "*/", "#", "[0]", "]]>", "@x", "+1", "-1", "0", "1e5", "nan", "missing"),
    *("\u202etxet\u2066", "\u05e2\u05d1\u05e8\u05d9\u05ea", "\U0001f333\U0001f468\u200d\U0001f469", "\u2028", "\x85"),
    *("\ufeff", "\x7f", "\x1b[31m", "\x07", "n" * 10_000, "n" * 9_999 + "m"),
)
BROKEN = ("nul\0in", "\0", "\ud800", "lone\udfff\ud800")
"""No text of a file: names that hold NUL or halves of characters."""

NAMES = (*ATTACKS, *ODD, *BROKEN)


def frame(names: tuple[str, ...] = NAMES, n_rows: int = 120) -> pd.DataFrame:
    """A column of numbers for each name, and one of levels that have these names."""
    random = np.random.default_rng(7)
    X = pd.DataFrame(random.integers(0, 5, (n_rows, len(names))).astype(float))
    objects = pd.Index(np.array(names, dtype=object), dtype=object)  # strings of pandas hold no broken text
    X["level"] = pd.Categorical.from_codes(np.arange(n_rows) % len(names), categories=objects)
    X.columns = pd.Index(np.array([*names, "level"], dtype=object), dtype=object)
    return X


@cache
def models(names: tuple[str, ...] = NAMES) -> dict[str, tuple[Any, pd.DataFrame]]:
    """Models whose trees ask about many of the columns and about the levels, and whose classes have these names."""
    X = frame(names)
    numbers = X.iloc[:, :-1].to_numpy()
    y = numbers @ np.cos(np.arange(numbers.shape[1])) + 5.0 * np.sin(X.iloc[:, -1].cat.codes.to_numpy())
    labels = np.array(names, dtype=object)[np.argsort(np.argsort(y)) * min(8, len(names)) // len(y)]
    return {
        "tree": (sw.DecisionTreeClassifier(random_state=0).fit(X, labels), X),
        "forest": (sw.RandomForestClassifier(6, random_state=0).fit(X, labels), X),
        "newton classes": (sw.NewtonBoostingClassifier(n_estimators=2, max_depth=4).fit(X, labels), X),
        "newton numbers": (sw.NewtonBoostingRegressor(n_estimators=12, max_depth=6).fit(X, y), X),
    }
