#!/usr/bin/env bash
# Usage: bash scripts/setup.sh EXTRAS
# Makes .venv in the checkout, unless it is there, and installs the project into it, editable, with these extras.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

is_recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    local name
    for name in python3.11 python3 python; do
        if is_recent "$name"; then
            echo "$name"
            return
        fi
    done
    echo "Sapwood needs Python 3.11 or newer, but none of python3.11, python3 and python is one." >&2
    echo "Install it, or put its folder first on PATH, and run this again." >&2
    return 1
}

if ! is_recent .venv/bin/python; then
    python="$(find_python)"
    "$python" -m venv --clear .venv
fi
echo "Installing into .venv (extras: $1)"
.venv/bin/python -m pip install -qq --disable-pip-version-check --upgrade pip
.venv/bin/python -m pip install -qq --disable-pip-version-check --editable ".[$1]"
