#!/usr/bin/env bash
# Builds a wheel with the kernels of a tree, a forest and boosting for one level of processors, installs it into a new
# environment, and runs programs that need these kernels: nothing may be compiled.
# PYTHON names the interpreter to build with, see build_wheel.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHON="${PYTHON:-$PWD/.venv/bin/python}"
WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT

DIST="$WORK/dist" PYTHON="$PYTHON" bash scripts/build_wheel.sh --levels generic --uses \
    "two classes, best splitter, columns of numbers" "forest, 2 classes, bins" "boosting, numbers"
"$PYTHON" -m venv "$WORK/env"
"$WORK/env/bin/python" -m pip install -qq --disable-pip-version-check "$WORK"/dist/*.whl
cp tests/compilation/programs.py "$WORK/"
cd "$WORK"
env/bin/python programs.py --compile-nothing --only \
    "DecisionTreeClassifier, float64, 2 classes" \
    "RandomForestClassifier, float64, 2 classes" \
    "NewtonBoostingClassifier, rounds, float64, 2 classes"
