#!/usr/bin/env bash
# Installs the project into .venv and runs every check: lint, format, types, layers, sizes, tests, the wheel.
# Arguments go to pytest, and leave out the wheel: bash scripts/test.sh -k threads
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh all,dev
PATH="$PWD/.venv/bin:$PATH"
ruff check
ruff format --check
mypy
lint-imports
python scripts/check_size.py
pytest -n 2 "$@"
if [[ $# -eq 0 ]]; then bash scripts/check_wheel.sh; fi
