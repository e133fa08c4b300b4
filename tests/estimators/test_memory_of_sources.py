"""Training on files takes no more memory than its plan says, and much less than the rows do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sapwood.boosting.memory_plan import Keep
from sapwood.scratch import SCRATCH

N_ROWS, N_COLUMNS = 2_000_000, 28
TOLERANCE = 1.15
PROGRAM = """
import sys
from pathlib import Path
import sapwood as sw

path, target, limit, leaves = sys.argv[1:]


def in_kb(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


shape = {"max_depth": 6} if leaves == "depth" else {"max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0}
make = sw.NewtonBoostingRegressor if target == "price" else sw.NewtonBoostingClassifier
model = make(n_estimators=3, random_state=0, max_memory=limit, scratch=str(Path(path).parent), **shape)
model.set_params(max_memory=None).fit(path + ".small.parquet", target=target)  # compiles and imports
plan = sw.plan(model.set_params(max_memory=limit), path, target=target)
before = in_kb("VmRSS:")
Path("/proc/self/clear_refs").write_text("5")
model.fit(path, target=target)
print(plan.keep.name, plan.memory, (in_kb("VmHWM:") - before) << 10, sw.fingerprint(model))
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2]
    folder = tmp_path_factory.mktemp("rows")
    for name, y in [("price", signal), ("two", signal > 0), ("three", np.digitize(signal, [-0.5, 0.5]))]:
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(N_COLUMNS)]).assign(**{name: y})
        frame.to_parquet(folder / f"{name}.parquet", row_group_size=100_000)
        frame.head(300).to_parquet(folder / f"{name}.parquet.small.parquet")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("leaves", ["depth", "leaves"])
@pytest.mark.parametrize("target", ["price", "two", "three"])
def test_peaks_stay_within_the_plan(target: str, leaves: str, path: Path) -> None:
    places, models = [], set()
    for limit in ("3GB", "220MB"):
        program = PROGRAM.replace('path + ".small"', 'path + ".small.parquet"')
        given = [sys.executable, "-c", program, str(path / f"{target}.parquet"), target, limit, leaves]
        run = subprocess.run(given, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        keep, planned, taken, model = run.stdout.split()
        print(target, leaves, limit, keep, f"plan {int(planned) >> 20} MB, taken {int(taken) >> 20} MB")
        assert int(taken) <= TOLERANCE * int(planned)
        places.append(keep)
        models.add(model)
    assert len(models) == 1
    assert places[0] == Keep.MEMORY.name
    assert places[1] != Keep.MEMORY.name
    assert not list(path.glob(f"{SCRATCH}*"))
