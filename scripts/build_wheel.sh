#!/usr/bin/env bash
# Usage: bash scripts/build_wheel.sh [--levels LEVEL…] [--uses USE…] [--jobs N]
# Puts a source distribution and a wheel with compiled kernels into dist/. Without options the wheel has the kernels of
# everything that `sapwood warmup` knows, for all levels of processors that this machine can run.
# PYTHON names the interpreter, in whose environment Sapwood's dependencies and "build" are; default: that of .venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHON="${PYTHON:-$PWD/.venv/bin/python}"
DIST="${DIST:-dist}"
WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT

"$PYTHON" -m build --sdist --outdir "$WORK" . > "$WORK/log" || { cat "$WORK/log"; exit 1; }
mkdir -p "$WORK/source" "$DIST"
tar -xzf "$WORK"/sapwood-*.tar.gz -C "$WORK/source" --strip-components 1
cp "$WORK"/sapwood-*.tar.gz "$DIST/"

# Sources of their own, so that no kernel is found which was compiled before.
PYTHONPATH="$WORK/source/src" XDG_CACHE_HOME="$WORK/none" "$PYTHON" -m sapwood.compilation.shipped "$WORK/kernels" "$@"
SAPWOOD_KERNELS="$WORK/kernels" "$PYTHON" -m build --wheel --outdir "$DIST" "$WORK/source" > "$WORK/log" ||
    { cat "$WORK/log"; exit 1; }
ls -l "$DIST"
