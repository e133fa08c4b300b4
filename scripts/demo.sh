#!/usr/bin/env bash
# Installs the project into .venv and shows what it can do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh all
.venv/bin/sapwood demo "$@"
