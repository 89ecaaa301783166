"""``python -m telemetry`` outside the virtual environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_missing_package_is_named_with_what_installs_it() -> None:
    command = [sys.executable, "-S", "-m", "telemetry", "study"]  # without the directory of installed packages
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr == "telemetry: the package numpy is missing. `make` installs it for .venv/bin/python\n"
