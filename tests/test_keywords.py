"""Keywords of functions: those in the signature, and those of a TypedDict that it unpacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pytest

from sapwood.errors import ParameterTypeError
from sapwood.keywords import answering, keywords_of, takes_any

if TYPE_CHECKING:
    from nowhere import Unknown


class Few(TypedDict, total=False):
    width: int


class More(Few, total=False):
    height: Unknown


def drawn(x: Unknown, *, colour: str = "red", **options: Unpack[More]) -> dict[str, Any]:
    return {"x": x, "colour": colour, **options}


def test_the_keys_of_a_typed_dict_are_keywords():
    assert keywords_of(drawn) == ["x", "colour", "width", "height"]
    assert keywords_of(answering(drawn)) == keywords_of(drawn)
    assert not takes_any(drawn)
    assert takes_any(lambda **anything: anything)
    assert answering(drawn)(1, height=2) == {"x": 1, "colour": "red", "height": 2}


def test_other_keywords_are_refused_with_the_nearest_name():
    with pytest.raises(ParameterTypeError, match=r"drawn\(\) has no parameter 'heigth'\. Did you mean 'height'\?"):
        answering(drawn)(1, heigth=2)
