"""What all tests share: no output depends on whether kernels were compiled before, and no test on the clock."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ.setdefault("SAPWOOD_QUIET", "1")
os.environ.setdefault("SAPWOOD_COMPILE_ALONE", "1")  # tests keep all cores busy themselves
settings.register_profile("no deadline", deadline=None)  # an example may have to compile kernels
settings.load_profile("no deadline")
