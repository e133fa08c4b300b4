"""Model files: size, time to save and to load, and the start of a service, next to those of other libraries.

    python benchmarks/bench_files.py [--repeats 9] [--rows 20000]

"equal model" is XGBoost's own model, taken over by `interchange.from_xgboost`: both files say the same. The others are
models that each library trained with the same settings. Loading is measured until the model is ready to be asked; the
files are in the memory of the system. Shares are of XGBoost's UBJSON. A start is the life of a fresh process that loads
a model and predicts one row, with kernels already compiled; "nothing but" processes import what any start must import.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm
import xgboost
from data import make_split
from measure import process_seconds, take_turns
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from text import Table

import sapwood
from sapwood.interchange import from_xgboost

TREES = {"n_estimators": 500, "max_depth": 6, "learning_rate": 0.1}
SIZE_BAR, LOAD_BAR, START_BAR = 1.0, 50.0, 1.0  # share of UBJSON; milliseconds; seconds
ANSWERS = {True: "met", False: "MISSED"}
START = """
import sys
{}
print(len(sys.modules))
"""
FIRST_PREDICTION = """
import numpy as np
import sapwood
sapwood.{}({!r}).predict(np.zeros((1, 28)))
"""
XGBOOST = """
import numpy as np
import xgboost
xgboost.Booster(model_file={!r}).predict(xgboost.DMatrix(np.zeros((1, 28))))
"""
LIGHTGBM = """
import numpy as np
import lightgbm
lightgbm.Booster(model_file={!r}).predict(np.zeros((1, 28)))
"""
Entry = tuple[str, Callable[[], object], Callable[[], object], Path]


def main() -> None:
    """Print one table for boosting, one for forests and one of starts, then the bars."""
    options = _read_options()
    print(f"sapwood {sapwood.__version__}  xgboost {xgboost.__version__}  lightgbm {lightgbm.__version__}")
    split = make_split(options.rows, 28, "classes", n_test=1000)
    with tempfile.TemporaryDirectory() as folder:
        boosted = _boosted(split, Path(folder))
        found = _measure(f"500 trees of depth 6, {options.rows} x 28", boosted, options.repeats)
        _measure(f"forest of 100 full trees, {options.rows} x 28", _forests(split, Path(folder)), options.repeats)
        start = _measure_starts(Path(folder), options.repeats)
    for name in ("Sapwood, equal model", "Sapwood"):
        share, load = found[name][0] / found["XGBoost UBJSON"][0], found[name][1]
        print(f"  bar: {name}: at most {SIZE_BAR:g} of UBJSON's size: {share:.3f}: {ANSWERS[share <= SIZE_BAR]}")
        print(f"  bar: {name}: loaded in at most {LOAD_BAR:g} ms: {load:.1f}: {ANSWERS[load <= LOAD_BAR]}")
    print(f"  bar: load_model predicts within {START_BAR:g} s of the start: {start:.2f}: {ANSWERS[start <= START_BAR]}")


def _measure_starts(folder: Path, repeats: int) -> float:
    """Seconds until the first prediction of the boosted model by `load_model`."""
    boosted, forest = str(folder / "own.sapwood"), str(folder / "forest.sapwood")
    programs = {
        "nothing but Python": "",
        "nothing but NumPy": "import numpy",
        "nothing but Numba": "import numba",
        "Sapwood load_model": FIRST_PREDICTION.format("load_model", boosted),
        "Sapwood load": FIRST_PREDICTION.format("load", boosted),
        "Sapwood load_model, forest": FIRST_PREDICTION.format("load_model", forest),
        "Sapwood load, forest": FIRST_PREDICTION.format("load", forest),
        "XGBoost": XGBOOST.format(str(folder / "x.ubj")),
        "LightGBM": LIGHTGBM.format(str(folder / "l.txt")),
    }
    seconds, modules = process_seconds({name: START.format(program) for name, program in programs.items()}, repeats)
    table = Table("process seconds cpu_seconds modules")
    for name, found in seconds.items():
        table.add(name, f"{found.wall:.2f}", f"{found.cpu:.2f}", modules[name])
    table.print("from the start of a process to its first prediction")
    return seconds["Sapwood load_model"].wall


def _boosted(split: Any, folder: Path) -> list[Entry]:
    theirs = xgboost.XGBClassifier(**TREES, tree_method="hist").fit(split.X, split.y)
    light = lightgbm.LGBMClassifier(**TREES, num_leaves=64, verbose=-1).fit(split.X, split.y)
    ours = sapwood.NewtonBoostingClassifier(recipe="xgboost", **TREES).fit(split.X, split.y)
    entries = [_ours("Sapwood", ours, folder / "own.sapwood"), _pickled("Sapwood pickle", ours, folder / "own.pickle")]
    entries.append(_ours("Sapwood, equal model", from_xgboost(theirs), folder / "equal.sapwood"))
    entries.append(_ours("Sapwood JSON", ours, folder / "own.json"))
    for name, path in (("XGBoost UBJSON", folder / "x.ubj"), ("XGBoost JSON", folder / "x.json")):
        load = lambda path=path: xgboost.Booster(model_file=path)  # noqa: E731
        entries.append((name, lambda path=path: theirs.save_model(path), load, path))
    path = folder / "l.txt"
    save, load = partial(light.booster_.save_model, path), partial(lightgbm.Booster, model_file=path)
    entries.append(("LightGBM text", save, load, path))
    return entries


def _forests(split: Any, folder: Path) -> list[Entry]:
    ours = sapwood.RandomForestClassifier(100, max_features="sqrt", random_state=0, n_jobs=-1).fit(split.X, split.y)
    theirs = SklearnForest(100, random_state=0, n_jobs=-1).fit(split.X, split.y)
    return [
        _ours("Sapwood", ours, folder / "forest.sapwood"),
        _pickled("Sapwood pickle", ours, folder / "forest.pickle"),
        _pickled("scikit-learn pickle", theirs, folder / "theirs.pickle"),
    ]


def _ours(name: str, model: Any, path: Path) -> Entry:
    return name, lambda: sapwood.save(model, path), lambda: sapwood.load(path), path


def _pickled(name: str, model: Any, path: Path) -> Entry:
    return name, lambda: path.write_bytes(pickle.dumps(model)), lambda: pickle.loads(path.read_bytes()), path


def _measure(title: str, entries: list[Entry], repeats: int) -> dict[str, tuple[int, float]]:
    """Bytes and milliseconds to load, by name."""
    saves = take_turns({name: save for name, save, _, _ in entries}, repeats)
    loads = take_turns({name: load for name, _, load, _ in entries}, repeats)
    sizes = {name: path.stat().st_size for name, _, _, path in entries}
    base = sizes.get("XGBoost UBJSON", sizes[entries[-1][0]])
    table = Table("file kB share_of_size save_ms load_ms")
    for name, size in sizes.items():
        save, load = (1000 * times[name].wall for times in (saves, loads))
        table.add(name, f"{size / 1000:.0f}", f"{size / base:.3f}", f"{save:.1f}", f"{load:.1f}")
    table.print(title)
    return {name: (sizes[name], 1000 * loads[name].wall) for name in sizes}


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--rows", type=int, default=20_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
