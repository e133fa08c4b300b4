"""Changes to model files: of documents that stay readable, and of what arrays hold."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from byte_changes import BYTE_CHANGES, WHOLE, Random, pick, sealed, with_other_header
from file_cases import packed

from sapwood.files.container import BLANK, DTYPES

REAL = (0.0, -0.0, 0.5, 1.0, -3.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf"))
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "x", "\ud800", [], [[]], {}, {"float": "nan"}, {"float": "inf"}, {"tuple": []}),
    *({"dict": {}}, {"dict": {"a": 1}}, {"map": [[1, 2]]}, {"lost": "the function f"}, {"texts": ["a", "b"]}),
    *({"objects": ["a", 1]}, {"array": "document"}, {"DecisionTreeClassifier": {}}, {"DummyRegressor": 0.5}),
    *({"Tree": {"count": 1}}, {"Vote": {"hard": True, "n_classes": {"tuple": [2]}}}, {"Squared": {"name": "squared"}}),
)
NAMES = (
    "",
    "x",
    "count",
    "fitted",
    "schema_",
    "tree_",
    "_members",
    "classes_",
    "n_outputs_",
    "_best",
    "kind",
    "levels",
)


@dataclass(frozen=True)
class Content:
    """What a file holds."""

    metadata: dict[str, str]
    document: Any
    arrays: dict[str, Any]

    def copy(self) -> Content:
        """Another one, which may be changed."""
        return Content(dict(self.metadata), copy.deepcopy(self.document), dict(self.arrays))


def mutated(contents: list[Content], random: Random) -> bytes:
    """A file that was changed; most have the right checksum again."""
    content = contents[random.integers(len(contents))].copy()
    other = contents[random.integers(len(contents))]
    form = "json" if random.random() < 0.25 else "binary"
    if random.random() < 0.3:
        return _of_bytes(content, other, form, random)
    stale = random.random() < 0.1
    before = packed(content.metadata, content.document, content.arrays, form) if stale else b""
    for _ in range(random.geometric(0.7)):
        pick(random, CHANGES)(content, other, random)
    data = packed(content.metadata, content.document, content.arrays, form)
    if stale:
        return _with_digest_of(before, data)
    if form == "binary" and random.random() < 0.1:
        return with_other_header(data, random)
    return data


def _of_bytes(content: Content, other: Content, form: str, random: Random) -> bytes:
    data = bytearray(packed(content.metadata, content.document, content.arrays, form))
    donor = packed(other.metadata, other.document, other.arrays, form)
    for _ in range(random.geometric(0.5)):
        pick(random, BYTE_CHANGES)(data, donor, random)
    return sealed(bytes(data)) if form == "binary" and random.random() < 0.5 else bytes(data)


def _with_digest_of(before: bytes, data: bytes) -> bytes:
    """A file that was changed after it was sealed."""
    marks = (b'"sha256":"', b'"sha256": "')
    mark = next(one for one in marks if one in before)
    old, new = (text[text.find(mark) + len(mark) :][: len(BLANK)] for text in (before, data))
    return data.replace(new, old, 1)


def nodes(document: Any) -> list[tuple[Any, Any]]:
    """All places of a document: a list or dictionary, and a key of it."""
    found, todo = [], [document]
    while todo:
        one = todo.pop()
        keys = list(one) if isinstance(one, dict) else list(range(len(one)))
        found += [(one, key) for key in keys]
        todo += [one[key] for key in keys if isinstance(one[key], (dict, list))]
    return found


def _place(document: Any, random: Random) -> tuple[Any, Any]:
    """Any place; those of what was fitted are as likely as those of parameters, which are many."""
    part = document.get("fitted") if random.random() < 0.6 else document
    found = nodes(part if isinstance(part, dict) and part else document)
    return pick(random, found or [({"": 0}, "")])


def _change_value(content: Content, other: Content, random: Random) -> None:
    holder, key = _place(content.document, random)
    value = holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = pick(random, (*WHOLE, value + 1, value - 1, -value, 2 * value, float(value)))
    elif isinstance(value, float):
        holder[key] = pick(random, (*REAL, -value, value * 1e-3, round(value) if abs(value) < 1e9 else 0))
    elif isinstance(value, str):
        holder[key] = pick(random, (value + "x", value[1:], "", "ä", value * 3, *NAMES, 1, None))
    else:
        holder[key] = copy.deepcopy(pick(random, ODD_VALUES))


def _replace_value(content: Content, other: Content, random: Random) -> None:
    holder, key = _place(content.document, random)
    if random.random() < 0.5:
        holder[key] = copy.deepcopy(pick(random, ODD_VALUES))
    else:
        giver, at = _place(other.document if random.random() < 0.5 else content.document, random)
        holder[key] = copy.deepcopy(giver[at])


def _delete_entry(content: Content, other: Content, random: Random) -> None:
    holder, key = _place(content.document, random)
    del holder[key]


def _repeat_entry(content: Content, other: Content, random: Random) -> None:
    holder, key = _place(content.document, random)
    if isinstance(holder, list):
        holder.insert(int(random.integers(len(holder) + 1)), copy.deepcopy(holder[key]))
    else:
        holder[pick(random, NAMES)] = copy.deepcopy(holder[key])


def _rename_entry(content: Content, other: Content, random: Random) -> None:
    holder, key = _place(content.document, random)
    if isinstance(holder, dict):
        holder[pick(random, (*NAMES, *(k for _, k in nodes(other.document) if isinstance(k, str))))] = holder.pop(key)


def _swap_entries(content: Content, other: Content, random: Random) -> None:
    (one, here), (two, there) = _place(content.document, random), _place(content.document, random)
    one[here], two[there] = copy.deepcopy(two[there]), copy.deepcopy(one[here])


def _take_fitted(content: Content, other: Content, random: Random) -> None:
    """An attribute of another model, with its arrays."""
    given = other.document["fitted"]
    name = pick(random, list(given))
    if isinstance(content.document.get("fitted"), dict):
        content.document["fitted"][name] = copy.deepcopy(given[name])
    for array in [array for array in content.arrays if array.startswith(f"fitted.{name}")]:
        del content.arrays[array]
    content.arrays.update({key: array for key, array in other.arrays.items() if key.startswith(f"fitted.{name}")})


def _take_estimator(content: Content, other: Content, random: Random) -> None:
    for name in ("estimator", "task", "parameters"):
        content.document[name] = copy.deepcopy(other.document[name])


def _change_metadata(content: Content, other: Content, random: Random) -> None:
    name = pick(random, (*content.metadata, "more"))
    content.metadata[name] = pick(random, ("", "0", "2", "10", "sapwood", "x" * 100, "\ud800", "1"))


def _array(content: Content, random: Random, kinds: str = "biuf") -> str | None:
    names = [name for name, array in content.arrays.items() if array.dtype.kind in kinds]
    return pick(random, names) if names else None


def _change_cells(content: Content, other: Content, random: Random) -> None:
    name = _array(content, random)
    if name is None or not content.arrays[name].size:
        return
    array = content.arrays[name].copy()
    cells = array.reshape(-1)
    at = random.integers(cells.size, size=random.integers(1, 4))
    if array.dtype.kind == "f":
        cells[at] = pick(random, (*REAL, cells[at] * -1.0, cells[at] * 2.0, np.nextafter(cells[at], np.inf)))
    elif array.dtype == np.bool_:
        cells[at] ^= True
    else:
        low, high = int(np.iinfo(array.dtype).min), int(np.iinfo(array.dtype).max)
        given = [number for number in WHOLE if low <= number <= high]
        cells[at] = pick(random, (*given, low, high, int(cells.max()), cells[at] ^ 1, cells[at] + 1, cells[at] - 1))
    content.arrays[name] = array


def _change_bits(content: Content, other: Content, random: Random) -> None:
    """Leaves, sides of missing values and levels that go left are bits."""
    names = [name for name in content.arrays if name.endswith((".is_leaf", ".missing_left", ".levels"))]
    names = [name for name in names if content.arrays[name].size]
    if not names:
        return
    name = pick(random, names)
    own = content.arrays[name]
    bits = np.unpackbits(np.ascontiguousarray(own).view(np.uint8))
    if random.random() < 0.5:
        bits[random.integers(len(bits), size=random.integers(1, 3))] ^= 1
    else:  # as many leaves as before
        one, two = random.integers(len(bits), size=2)
        bits[[one, two]] = bits[[two, one]]
    content.arrays[name] = np.packbits(bits).view(own.dtype)


def _change_order(content: Content, other: Content, random: Random) -> None:
    name = _array(content, random)
    if name is not None:
        own = content.arrays[name]
        content.arrays[name] = pick(
            random, (own[::-1] if own.ndim else own, np.roll(own, 1), np.sort(own, axis=None).reshape(own.shape))
        )


def _change_type(content: Content, other: Content, random: Random) -> None:
    name = _array(content, random)
    if name is None:
        return
    own, dtype = content.arrays[name], pick(random, list(DTYPES.values()))
    with np.errstate(all="ignore"):
        if random.random() < 0.5 and own.ndim and own.nbytes % dtype.itemsize == 0 and dtype != np.bool_:
            content.arrays[name] = np.ascontiguousarray(own).reshape(-1).view(dtype)
        else:
            content.arrays[name] = own.astype(dtype)


def _change_shape(content: Content, other: Content, random: Random) -> None:
    name = _array(content, random)
    if name is not None:
        own = content.arrays[name]
        flat = own.reshape(-1)
        longer = np.concatenate([flat, flat[-1:], np.zeros(1, own.dtype)])
        shapes = (
            flat,
            flat[:-1],
            flat[1:],
            longer,
            own[None][:, :1] if own.ndim < 3 else own,
            flat[:0],
            flat.reshape(-1, 1),
        )
        content.arrays[name] = pick(random, shapes)


def _swap_arrays(content: Content, other: Content, random: Random) -> None:
    one, two = _array(content, random), _array(content, random)
    if one is not None and two is not None:
        content.arrays[one], content.arrays[two] = content.arrays[two], content.arrays[one]


def _rename_array(content: Content, other: Content, random: Random) -> None:
    name = _array(content, random)
    if name is not None:
        new = pick(random, ("x", "", "extensions.x", f"{name}.leaf", name.replace("leaf", "inner"), *other.arrays))
        content.arrays[new] = content.arrays[name] if random.random() < 0.5 else content.arrays.pop(name)


def _take_array(content: Content, other: Content, random: Random) -> None:
    name = _array(other, random)
    if name is not None:
        content.arrays[name if random.random() < 0.7 else _array(content, random) or name] = other.arrays[name]


CHANGES: tuple[Callable[[Content, Content, Random], None], ...] = (
    *(_change_value, _change_value, _change_value, _replace_value, _delete_entry, _repeat_entry, _rename_entry),
    *(_swap_entries, _take_fitted, _take_estimator, _change_metadata),
    *(_change_cells, _change_cells, _change_cells, _change_cells, _change_bits, _change_bits, _change_order),
    *(_change_type, _change_shape, _swap_arrays, _rename_array, _take_array),
)
