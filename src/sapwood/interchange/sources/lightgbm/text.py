"""LightGBM's text format, taken apart: a head, sections of trees, parameters, and names of categories."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sapwood.errors import ModelFileError
from sapwood.interchange.sources.fields import Fields

WHOLE = (  # fields of a tree that hold lists of whole numbers
    *("split_feature", "decision_type", "left_child", "right_child", "leaf_count", "cat_boundaries", "cat_threshold"),
)
REAL = ("split_gain", "threshold", "leaf_value", "leaf_weight", "internal_value")


@dataclass(frozen=True, eq=False)
class LightGBMText:
    """Parts of the file, their fields not looked at yet."""

    head: Fields
    trees: list[Fields]
    parameters: dict[str, str]
    pandas_categories: list[list[object]] | None

    @classmethod
    def read(cls, text: str) -> LightGBMText:
        """Take a text apart."""
        lines = [line.strip() for line in text.splitlines()]
        if not lines or lines[0] != "tree":
            raise ModelFileError(
                "This is not a model file of LightGBM: it does not begin with a line 'tree'. Save the model with "
                "booster.save_model('model.txt')."
            )
        if "end of trees" not in lines:
            raise ModelFileError("The model file of LightGBM has no line 'end of trees': it is cut off.")
        end = lines.index("end of trees")
        starts = [at for at, line in enumerate(lines[:end]) if line.startswith("Tree=")]
        sections = [lines[a:b] for a, b in zip(starts, [*starts[1:], end], strict=True)]
        return cls(
            Fields(_pairs(lines[1 : starts[0] if starts else end]), "head"),
            [_tree(section, t) for t, section in enumerate(sections)],
            _parameters(lines[end:]),
            _pandas_categories(lines[end:]),
        )


def _pairs(lines: list[str]) -> dict[str, str]:
    """Names and texts of "name=text"; a line without a text is a flag."""
    found: dict[str, str] = {}
    for line in filter(None, lines):
        name, _, text = line.partition("=")
        if name in found:
            raise ModelFileError(f"The model file of LightGBM has two lines {name!r} where there should be one.")
        found[name] = text
    return found


def _tree(section: list[str], t: int) -> Fields:
    pairs = _pairs(section)
    if pairs["Tree"] != str(t):
        raise ModelFileError(f"The model file of LightGBM lacks tree {t}: there is Tree={pairs['Tree']} instead.")
    numbers = {
        name: _numbers(pairs[name], kind, f"tree {t}.{name}")
        for names, kind in ((WHOLE, int), (REAL, float))
        for name in names
        if name in pairs
    }
    return Fields(pairs | numbers, f"tree {t}")


def _numbers(text: str, kind: type[int] | type[float], where: str) -> list[float]:
    try:
        return [kind(part) for part in text.split()]
    except ValueError as error:
        raise ModelFileError(f"{where} should hold numbers: {error}. The file is damaged.") from error


def _parameters(lines: list[str]) -> dict[str, str]:
    """Parameters of the training, such as "[alpha: 0.9]"."""
    inside = (line[1:-1].partition(":") for line in lines if line.startswith("[") and line.endswith("]"))
    return {name.strip(): text.strip() for name, colon, text in inside if colon}


def _pandas_categories(lines: list[str]) -> list[list[object]] | None:
    found = [line.partition(":")[2] for line in lines if line.startswith("pandas_categorical:")]
    try:
        lists = json.loads(found[-1]) if found else None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"pandas_categorical is not JSON: {error}. The file is damaged.") from error
    if lists is not None and not (isinstance(lists, list) and all(isinstance(own, list) for own in lists)):
        raise ModelFileError("pandas_categorical should be a list of lists. The file is damaged.")
    return lists
