"""What all tests share: no output depends on whether kernels were compiled before."""

from __future__ import annotations

import os

os.environ.setdefault("SAPWOOD_QUIET", "1")
