"""Runs failed tests once more, alone: ``python -m tests.again`` after ``make test`` has failed.

On a busy machine a test can fail because of what ran next to it. Such a test is a bug to mend, and its name is printed;
a change that has nothing to do with it is not refused. A test that fails alone, too, fails the run. So do more than
``MOST`` failed tests: then the change is the likely cause.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.turns import ROOT, turn

RECORD = ROOT.parent / ".pytest_cache" / "v" / "cache" / "lastfailed"
"""Written by pytest at the end of a run: a JSON object whose keys are the failed tests."""
MOST = 3


def failed(record: Path = RECORD) -> list[str]:
    """The tests that failed in the last run, as pytest selects them; none where it left no record."""
    try:
        return sorted(map(selected, json.loads(record.read_text())))
    except (OSError, ValueError):
        return []


def selected(test: str) -> str:
    """The test's name without the group that pytest-xdist appends to it."""
    file = ROOT.parent / test.partition("::")[0]
    return test.removesuffix(f"@{turn(file)[1]}")


def main() -> int:
    tests = failed()
    if not 1 <= len(tests) <= MOST:
        print(f"again: {len(tests)} failed tests are on record; 1 to {MOST} are run once more, alone")
        return 1
    result = subprocess.run([sys.executable, "-m", "pytest", *tests], cwd=ROOT.parent, check=False).returncode
    if result == 0:
        print("again: failed next to other tests and passed alone; mend these:", *tests, sep="\n  ")
    return result


if __name__ == "__main__":
    sys.exit(main())
