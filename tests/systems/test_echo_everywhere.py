"""The stories of the toy system, in a process whose environment names it."""

import os
import subprocess
import sys
from pathlib import Path

from overlay.plugins import VARIABLE
from tests.waiting import BOUND_S

ROOT = Path(__file__).resolve().parents[2]


def test_the_toy_system_is_at_home_in_every_interface():
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/systems/stories_of_echo.py"],
        cwd=ROOT,
        env={**os.environ, VARIABLE: "tests.systems.echo:SYSTEM"},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-6000:]
