"""The recorded fingerprints, and the command that records them anew.

    python tests/fingerprints/fingerprint_record.py

It says which changed. A commit that changes any has a line in CHANGELOG.md under "Same seed, different model".
"""

from __future__ import annotations

import json
from pathlib import Path

from fingerprint_cases import CASES

from sapwood import fingerprint

FILE = Path(__file__).with_name("recorded.json")
COMMAND = "python tests/fingerprints/fingerprint_record.py"


def recorded() -> dict[str, dict[str, str]]:
    """By name of a case: its fingerprint and, for people, perhaps a note (say, that it depends on the processor)."""
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def main() -> None:
    """Fit all cases, keep notes, and print what is new, changed or gone."""
    before, after = recorded(), {}
    for name, case in CASES.items():
        after[name] = {**before.get(name, {}), "fingerprint": fingerprint(case.fit())}
        if after[name] != before.get(name):
            print("changed:" if name in before else "new:    ", name)
    for name in before.keys() - after.keys():
        print("gone:   ", name)
    FILE.write_text(json.dumps(after, indent=1) + "\n")
    print(f"{len(after)} fits recorded")


if __name__ == "__main__":
    main()
