"""Memory does not grow with the number of rows."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PEAK = """
import resource, sys
from sapwood.codes import binned
from sapwood.sources import source
from sapwood.sources.encode import encode
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey
source.BATCH, binned.SAMPLE = 8192, 20_000
found = survey(open_source(sys.argv[1]), Roles(target="y"))
file = encode(found, sys.argv[2], block_rows=20_000)
assert sum(int(block.table.rows.max()) for block in file) > 0
print(file.n_rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_rows(tmp_path):
    random = np.random.default_rng(0)
    rows = pa.table({f"x{j}": random.normal(size=20_000) for j in range(10)} | {"y": random.random(20_000)})
    peaks = []
    for times in (4, 60):  # 7 and 105 MB of numbers, 1.3 and 20 MB of codes
        path = tmp_path / f"{times}.parquet"
        with pq.ParquetWriter(path, rows.schema) as writer:
            for _ in range(times):
                writer.write_table(rows)
        command = [sys.executable, "-c", PEAK, str(path), str(tmp_path / "x.codes")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        n_rows, peak = map(int, done.stdout.split()[-2:])
        assert n_rows == 20_000 * times
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 40_000  # kilobytes
