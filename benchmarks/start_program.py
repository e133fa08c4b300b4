"""What a new process needs for one estimator, as JSON: imports, first fit and prediction, and kernels compiled.

    python start_program.py MODULE CLASS [PARAMETER=VALUE …]

It runs in an environment of its own, so it imports nothing of the benchmarks.
"""

import builtins
import json
import sys
import time


class Imports:
    """Stands in for `__import__`, and adds up the time of the outermost imports."""

    def __init__(self):
        self.seconds = 0.0
        self._depth = 0
        self._import = builtins.__import__

    def __call__(self, *arguments, **options):
        """Import as usual."""
        self._depth += 1
        start = time.perf_counter()
        try:
            return self._import(*arguments, **options)
        finally:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - start


begin = time.perf_counter()
imports = builtins.__import__ = Imports()

import numpy as np  # noqa: E402

module = __import__(sys.argv[1], fromlist=[sys.argv[2]])
start = time.perf_counter()
estimator = getattr(module, sys.argv[2])  # Sapwood imports it now
imports.seconds += time.perf_counter() - start

compiled = []
if sys.argv[1] == "sapwood":
    from numba.core import event

    class Compiled(event.Listener):
        """Names of what is compiled."""

        def on_start(self, begun):
            compiled.append(begun.data["dispatcher"].py_func.__name__)

        def on_end(self, ended):
            pass

    event.register("numba:compile", Compiled())

parameters = {name: json.loads(value) for name, value in (each.split("=", 1) for each in sys.argv[3:])}
X = np.random.default_rng(0).random((1000, 10), dtype=np.float32)
signal = X[:, 0] + X[:, 1]
y = signal if sys.argv[2].endswith("Regressor") else (signal > 1).astype(np.int64)
options = {"group": [50] * 20} if sys.argv[2].endswith("Ranker") else {}
before = imports.seconds
start = time.perf_counter()
model = estimator(**parameters).fit(X, y, **options)
model.predict(X)
seconds = time.perf_counter() - start - (imports.seconds - before)
total = time.perf_counter() - begin
print(json.dumps({"imports": imports.seconds, "first": seconds, "total": total, "compiled": compiled}))
