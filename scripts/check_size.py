"""Checks that files, functions, lists of parameters and calls are short.

    python scripts/check_size.py [--package kernels growth]

Exempt are what users see as parameters: constructors of public estimators.
`size_exceptions.txt` lists what is larger than its limit; the list may only shrink. With --package, a summary.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
SOURCE, EXCEPTIONS = HERE.parent / "src" / "sapwood", HERE / "size_exceptions.txt"
LIMITS = {"file": 350, "function": 60, "parameters": 10, "arguments": 12}
WORDS = {  # of which {} may be no more
    "file": "{} lines",
    "function": "{} lines without its docstring",
    "parameters": "{} parameters",
    "arguments": "{} positional arguments in a call",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Sizes = dict[tuple[str, str], int]  # (kind, place) -> size


def measure(source: Path) -> Sizes:
    """The sizes of everything in a folder; of things of one name in one place, the largest."""
    found: Sizes = {}
    for path in sorted(source.rglob("*.py")):
        place, text = path.relative_to(source).as_posix(), path.read_text()
        for kind, name, size in [("file", place, len(text.splitlines())), *_inside(ast.parse(text), place)]:
            found[kind, name] = max(size, found.get((kind, name), 0))
    return found


def _inside(node: ast.AST, place: str, outer: ast.AST | None = None) -> Iterator[tuple[str, str, int]]:
    for child in ast.iter_child_nodes(node):
        inner, parent = place, outer
        if isinstance(child, Function | ast.ClassDef):
            inner, parent = f"{place} {child.name}" if place.endswith(".py") else f"{place}.{child.name}", child
        if isinstance(child, Function):
            exempt = _is_exempt(child, inner, outer)
            yield "function", inner, _n_lines(child, exempt)
            if not exempt:
                yield "parameters", inner, _n_parameters(child, isinstance(outer, ast.ClassDef))
        elif isinstance(child, ast.Call):
            yield "arguments", f"{inner} -> {ast.unparse(child.func).split('(')[0]}", _n_arguments(child)
        yield from _inside(child, inner, parent)


def _is_exempt(function: Function, place: str, outer: ast.AST | None) -> bool:
    is_constructor = function.name == "__init__" and isinstance(outer, ast.ClassDef) and not outer.name.startswith("_")
    return is_constructor and place.startswith("estimators/")


def _n_lines(function: Function, body_only: bool) -> int:
    first = function.body[0]
    start = first.lineno if body_only else function.lineno
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return function.end_lineno - start + 1 - docstring


def _n_parameters(function: Function, is_method: bool) -> int:
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    bound = is_method and names[:1] in (["self"], ["cls"])
    return len(names) - bound + len(given.kwonlyargs) + (given.vararg is not None) + (given.kwarg is not None)


def _n_arguments(call: ast.Call) -> int:
    """Positional arguments; those of a written-out tuple, as in f(*(a, b)), count each."""
    spread = [each.value for each in call.args if isinstance(each, ast.Starred)]
    return len(call.args) + sum(len(each.elts) - 1 for each in spread if isinstance(each, ast.Tuple | ast.List))


def read_exceptions(path: Path) -> Sizes:
    """Lines of "kind size place"; the others are blank or comments."""
    lines = [line.split(maxsplit=2) for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(kind, place): int(size) for kind, size, place in lines}


def complaints(sizes: Sizes, allowed: Sizes, file: str = EXCEPTIONS.name) -> Iterator[str]:
    """What is too large, and which exceptions are larger than needed."""
    for key in sorted(sizes.keys() | allowed.keys()):
        (kind, place), size, exception = key, sizes.get(key, 0), allowed.get(key)
        limit, line = LIMITS[kind], f"{file}: '{kind} {exception} {place}'"
        if size > max(limit, exception or 0):
            yield f"{place}: {WORDS[kind].format(size)}, allowed are {exception or limit}. Make it smaller."
        elif exception is not None and size <= limit:
            yield f"{line} is no longer needed ({WORDS[kind].format(size)}). Delete this line."
        elif exception is not None and size < exception:
            yield f"{line} is larger than needed. Lower it to {size}."


def summary(sizes: Sizes, packages: list[str]) -> Iterator[str]:
    """One line for each package, and their sum: files, lines, functions, and how many are over each limit."""
    yield f"{'package':16}{'files':>8}{'lines':>8}{'functions':>11}   over the limits: {', '.join(LIMITS)}"
    for name, chosen in [*((name, [name]) for name in packages), *([("together", packages)] if packages[1:] else [])]:
        own = {key: size for key, size in sizes.items() if key[1].split("/")[0] in chosen}
        files = [size for (kind, _), size in own.items() if kind == "file"]
        over = [sum(size > limit for (kind, _), size in own.items() if kind == what) for what, limit in LIMITS.items()]
        functions = sum(kind == "function" for kind, _ in own)
        yield f"{name:16}{len(files):8}{sum(files):8}{functions:11}   {', '.join(map(str, over))}"


def main() -> int:
    """Print complaints, or a summary; the exit code is 1 if there are complaints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", nargs="+", help="print a summary of these packages instead")
    packages, sizes = parser.parse_args().package, measure(SOURCE)
    if packages:
        print("\n".join(summary(sizes, packages)))
        return 0
    found = list(complaints(sizes, read_exceptions(EXCEPTIONS)))
    print("\n".join(found) or f"sizes: fine, {len(read_exceptions(EXCEPTIONS))} exceptions")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
