"""Makes `oracle` and `strategies` importable whatever import mode pytest uses."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
