"""What a new process waits for: imports, and the first fit and prediction of each estimator.

    python benchmarks/bench_start.py --wheel dist/sapwood-….whl [--repeats 3]
    python benchmarks/bench_start.py --python ENVIRONMENT/bin/python [--repeats 3]

With --wheel, a new environment is made of the wheel and its dependencies. XGBoost, LightGBM and scikit-learn are
measured as well, where the environment has them; --peers installs them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parent / "start_program.py"
ESTIMATORS: dict[str, list[str]] = {
    "DecisionTreeClassifier": [],
    "DecisionTreeRegressor": [],
    "RandomForestClassifier": [],
    "RandomForestRegressor": [],
    "ExtraTreesClassifier": [],
    "ExtraTreesRegressor": [],
    "BaggingClassifier": [],
    "BaggingRegressor": [],
    "AdaBoostClassifier": [],
    "AdaBoostRegressor": [],
    "GradientBoostingClassifier": [],
    "GradientBoostingRegressor": [],
    "NewtonBoostingClassifier": [],
    "NewtonBoostingRegressor": [],
    "NewtonBoostingClassifier ": ["n_estimators=100"],  # with a number of rounds
    "NewtonBoostingRegressor ": ["n_estimators=100"],
    "NewtonBoostingRanker": [],
}
PEERS = {
    "xgboost": "XGBClassifier",
    "lightgbm": "LGBMClassifier",
    "sklearn.ensemble": "HistGradientBoostingClassifier",
}


def main() -> None:
    """Measure and print."""
    options = _read_options()
    if options.wheel is None:
        _report(options.python, options)
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        wanted = [str(options.wheel), *(["xgboost", "lightgbm"] if options.peers else [])]
        subprocess.run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *wanted], check=True)
        print(f"wheel {_megabytes(options.wheel.stat().st_size)}", end=", ")
        _report(python, options)


def _report(python: Path, options: argparse.Namespace) -> None:
    place = _run(python, "-c", "import sapwood; print(sapwood.__path__[0])").strip()
    files = [path for path in Path(place).rglob("*") if path.is_file()]
    print(f"installed {_megabytes(sum(path.stat().st_size for path in files))}, {len(files)} files")
    print(f"import sapwood: {_import_seconds(python, options.repeats):.3f} s beyond the start of Python\n")
    print(f"{'first fit and prediction, 1000 x 10, median':44} imports s  beyond s  process s  compiled kernels")
    for name, parameters in ESTIMATORS.items():
        _measure(python, "sapwood", name.strip(), parameters, options.repeats)
    for module, name in PEERS.items():
        if _has(python, module):
            _measure(python, module, name, [], options.repeats)


def _measure(python: Path, module: str, name: str, parameters: list[str], repeats: int) -> None:
    printed = [_run(python, PROGRAM, module, name, *parameters) for _ in range(repeats)]
    runs: list[dict[str, Any]] = [json.loads(text.splitlines()[-1]) for text in printed]
    imports, first, total = (statistics.median(run[key] for run in runs) for key in ("imports", "first", "total"))
    label = " ".join([f"{module}.{name}", *parameters])
    print(
        f"{label:44} {imports:9.2f} {first:9.2f} {total:10.2f}  {max(len(run['compiled']) for run in runs)}", flush=True
    )


def _import_seconds(python: Path, repeats: int) -> float:
    program = "import time; t = time.perf_counter(); import sapwood; print(time.perf_counter() - t)"
    return statistics.median(float(_run(python, "-c", program)) for _ in range(repeats))


def _has(python: Path, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], check=False, capture_output=True).returncode == 0


def _run(python: Path, *arguments: str | Path) -> str:
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"SAPWOOD_QUIET": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=settings).stdout


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="to be installed into a new environment")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="of an environment with Sapwood")
    parser.add_argument("--peers", action="store_true", help="install XGBoost and LightGBM beside the wheel")
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
