"""What all tests share: no output depends on whether kernels were compiled before, and no test on the clock."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ.setdefault("SAPWOOD_QUIET", "1")
settings.register_profile("no deadline", deadline=None)  # an example may have to compile kernels
settings.load_profile("no deadline")
