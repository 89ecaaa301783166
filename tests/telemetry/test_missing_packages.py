"""``python -m telemetry`` outside the virtual environment, and stopped while it begins."""

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


def test_ctrl_c_while_it_begins_ends_it_without_a_traceback() -> None:
    stopped = (
        "import sys; sys.modules['telemetry.cli'] = Pressed(); from telemetry.__main__ import main; sys.exit(main())"
    )
    pressed = "class Pressed:\n    def __getattr__(self, name):\n        raise KeyboardInterrupt\n"
    ended = subprocess.run(
        [sys.executable, "-c", f"{pressed}\n{stopped}"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (130, "")
