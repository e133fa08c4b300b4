"""The fixed parts of a generated Python module: what differs between models is data before them."""

from __future__ import annotations

from sapwood.model.response import Kind

WALK = """
def _leaf(cells, node):
    while FEATURE[node] >= 0:
        x = cells[FEATURE[node]]
        if SUBSET[node] >= 0:
            if x >= 0:
                left = LEVELS[SUBSET[node] + x // 8] >> x % 8 & 1
            elif STOPS_AT_UNSEEN and x == UNSEEN:
                return node
            else:
                left = MISSING_LEFT[node]
        elif x != x:
            left = MISSING_LEFT[node]
        else:
            left = x <= THRESHOLD[node]
        node = node + 1 if left else RIGHT[node]
    return node

"""

SCORES = """
def _scores(row):
    cells = _cells(row)
    scores = list(BASE)
    for root, column in zip(ROOTS, COLUMNS):
        for k, value in enumerate(VALUES[VALUE_ROW[_leaf(cells, root)]]):
            scores[column + k] += value
    return scores if DIVISOR == 1.0 else [score / DIVISOR for score in scores]

"""

SCORES_OF_LINES = """
def _line(cells, column, slope, centre, low, high):
    x = cells[column]
    return 0.0 if x != x else slope * (min(max(x, low), high) - centre)


def _scores(row):
    cells = _cells(row)
    scores = list(BASE)
    for root, column in zip(ROOTS, COLUMNS):
        leaf = VALUE_ROW[_leaf(cells, root)]
        scores[column] += VALUES[leaf][0]
        for line in LINES[LINE_START[leaf] : LINE_START[leaf + 1]]:
            scores[column] += _line(cells, *line)
    return scores

"""

CELLS = """
def _cells(row):
    values = [row[name] for name in NAMES] if isinstance(row, dict) else list(row)
    if len(values) != len(NAMES):
        raise ValueError(f"the row has {len(values)} values, but the model has {len(NAMES)} columns")
    return [_cell(*column) for column in zip(values, NAMES, KINDS, CODES)]


def _cell(value, name, kind, codes):
    is_missing = value is None or value != value
    if kind == "category":
        code = -1 if is_missing else codes.get(value, UNSEEN)
        if code == UNSEEN and REFUSES_UNSEEN:
            raise ValueError(f"the column {name!r} holds {value!r}, which was not seen in training")
        return code
    if is_missing:
        return math.nan
    return _seconds(value) if kind in ("date", "duration") else float(value)


def _seconds(value):
    if hasattr(value, "year"):
        shift = value.utcoffset() if hasattr(value, "utcoffset") else None
        if shift is not None:
            value = value.replace(tzinfo=None) - shift
        value = value - type(value)(1970, 1, 1)
    if hasattr(value, "days"):
        return value.days * 86400 + value.seconds + value.microseconds / 1000000
    return float(value)
"""

RESPONSES: dict[Kind, str] = {
    "same": """
def _numbers(scores):
    return [scores[k] for k in KEPT]
""",
    "logistic": """
def _numbers(scores):
    p = 1.0 / (1.0 + math.exp(min(-SCALE * scores[0], MOST_EXPONENT)))
    return [1.0 - p, p]
""",
    "softmax": """
def _numbers(scores):
    most = SCALE * max(scores)
    parts = [math.exp(SCALE * score - most) for score in scores]
    total = 0.0
    for part in parts:
        total += part
    return [part / total for part in parts]
""",
    "exponential": """
def _numbers(scores):
    return [math.exp(min(score, MOST_EXPONENT)) for score in scores]
""",
    "sorted": """
def _numbers(scores):
    ordered = sorted(scores)
    return [ordered[rank] for rank in RANKS]
""",
    "median": """
def _numbers(scores):
    order = sorted(range(len(scores)), key=scores.__getitem__)
    total = 0.0
    for k in order:
        total += WEIGHTS[k]
    end = 0.0
    for k in order:
        end += WEIGHTS[k]
        if end >= 0.5 * total:
            break
    return [scores[k]]
""",
}

WITHOUT_FACTORS = """
def _probabilities(scores):
    parts = [share / factor for share, factor in zip(_numbers(scores), FACTORS)]
    total = 0.0
    for part in parts:
        total += part
    return [part / total for part in parts]
"""

ONE_NUMBER = '''
def predict(row):
    """The prediction for a row: a dictionary, or values in the order of NAMES; None and NaN are missing."""
    return _numbers(_scores(row))[0]
'''

NUMBERS = '''
def predict(row):
    """The predictions for a row: a dictionary, or values in the order of NAMES; None and NaN are missing."""
    return _numbers(_scores(row))
'''

LABEL = """
def _choose(scores, labels):
    if len(scores) == 1 and len(labels) == 2:
        return labels[scores[0] > MARGIN or (SECOND_OF_EQUALS and scores[0] == 0.0)]
    least = max(scores) - MARGIN
    return next(label for label, score in zip(labels, scores) if score >= least)
"""

ONE_CLASS = '''
def predict(row):
    """The class of a row: a dictionary, or values in the order of NAMES; None and NaN are missing."""
    return _choose(_scores(row), CLASSES[0])


def predict_proba(row):
    """Probabilities of CLASSES[0] for such a row."""
    return {probabilities}(_scores(row))
'''

SEVERAL_CLASSES = '''
def predict(row):
    """The classes of a row, one for each output; None and NaN are missing."""
    scores = _scores(row)
    return [_choose([scores[k] for k in group], labels) for group, labels in zip(GROUPS, CLASSES)]


def predict_proba(row):
    """For each output the probabilities of its CLASSES."""
    scores = _scores(row)
    return [[scores[k] for k in group] for group in GROUPS]
'''
