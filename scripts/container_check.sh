#!/usr/bin/env bash
# Runs the library as a container does: installed by root into a read-only folder, used by another user without a home.
#   bash scripts/container_check.sh [PYTHON]      needs root and setpriv (util-linux)
# 1. kernels compiled when the image is built are used as they are; 2. without them, everything still works.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHON="${1:-$(command -v python)}"
IMAGE="$(mktemp -d)"
trap 'chmod -R u+w "$IMAGE"; rm -rf "$IMAGE"' EXIT
chmod 755 "$IMAGE"
mkdir "$IMAGE/site" "$IMAGE/data"
chmod 777 "$IMAGE/data"
cp -r src/sapwood "$IMAGE/site/"
find "$IMAGE/site" -name __pycache__ -exec rm -rf {} +

cat > "$IMAGE/use.py" <<'PY'
import sys
import numpy as np
import sapwood
X = np.random.default_rng(0).normal(size=(400, 4))
y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
model = sapwood.DecisionTreeClassifier(max_depth=3).fit(X, y)
print("accuracy", (model.predict(X) == y).mean())
sapwood.save(model, sys.argv[1] + "/tree.sapwood")
rows = "\n".join(",".join([*map(str, row), label]) for row, label in zip(X.tolist(), y, strict=True))
open(sys.argv[1] + "/rows.csv", "w").write("a,b,c,d,label\n" + rows + "\n")
PY

root() { env -i PATH="$PATH" PYTHONPATH="$IMAGE/site" SAPWOOD_QUIET=1 "$@"; }
# May read everything, so that any interpreter can be started, and write nothing of others; no HOME.
user() {
    env -i PATH="$PATH" PYTHONPATH="$IMAGE/site" PYTHONDONTWRITEBYTECODE=1 \
        setpriv --reuid=65534 --regid=65534 --clear-groups \
        --inh-caps=+dac_read_search --ambient-caps=+dac_read_search "$@"
}
use_all() {
    rm -rf "$IMAGE"/data/*
    user "$PYTHON" "$IMAGE/use.py" "$IMAGE/data"
    cd "$IMAGE/data"
    user "$PYTHON" -m sapwood train rows.csv --target label --out model.sapwood > /dev/null
    user "$PYTHON" -m sapwood predict --input rows.csv --model model.sapwood --out said.csv > /dev/null
    user "$PYTHON" -m sapwood warmup --model model.sapwood --predict-only > /dev/null
    test "$(wc -l < said.csv)" -eq 401
    cd - > /dev/null
}

echo "building: root compiles what this use needs"
root "$PYTHON" "$IMAGE/use.py" "$IMAGE/data"
(cd "$IMAGE/data" && root "$PYTHON" -m sapwood train rows.csv --target label --out model.sapwood > /dev/null)
(cd "$IMAGE/data" && root "$PYTHON" -m sapwood predict --input rows.csv --model model.sapwood --out said.csv > /dev/null)
(cd "$IMAGE/data" && root "$PYTHON" -m sapwood warmup --model model.sapwood --predict-only > /dev/null)
chmod -R a-w "$IMAGE/site"
COMPILED="$(ls "$IMAGE"/site/sapwood/kernels/__pycache__/*.nbc | wc -l)"
test "$COMPILED" -gt 10

echo "running with $COMPILED compiled kernels: none may be compiled again"
use_all 2> "$IMAGE/said" || { cat "$IMAGE/said"; exit 1; }
if grep -q "KernelCacheWarning\|compiling kernels" "$IMAGE/said"; then cat "$IMAGE/said"; exit 1; fi

echo "running without compiled kernels: compiled in memory, with a warning"
chmod -R u+w "$IMAGE/site"
rm "$IMAGE"/site/sapwood/kernels/__pycache__/*.nbc
chmod -R a-w "$IMAGE/site"
use_all 2> "$IMAGE/said" || { cat "$IMAGE/said"; exit 1; }
grep -q KernelCacheWarning "$IMAGE/said"
test -z "$(find "$IMAGE/site" -name '*.nbc')"

echo "running with NUMBA_CACHE_DIR in a folder of the user: compiled once"
mkdir "$IMAGE/kernels"
chmod 777 "$IMAGE/kernels"
keep() { user env NUMBA_CACHE_DIR="$IMAGE/kernels" "$PYTHON" "$IMAGE/use.py" "$IMAGE/data"; }
keep > /dev/null 2>&1
keep > /dev/null 2> "$IMAGE/said"
if grep -q "KernelCacheWarning\|compiling kernels" "$IMAGE/said"; then cat "$IMAGE/said"; exit 1; fi
echo "all went well"
