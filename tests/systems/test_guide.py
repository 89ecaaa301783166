"""The example of docs/add-a-system.md works as it is printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from overlay.plugins import VARIABLE
from tests.waiting import BOUND_S

ROOT = Path(__file__).resolve().parents[2]


def test_the_clock_of_the_guide_is_simulated_by_its_command(tmp_path):
    guide = (ROOT / "docs/add-a-system.md").read_text()
    (module,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "clock.py").write_text(module)
    (tmp_path / "clock.yaml").write_text("system: clock")
    said = subprocess.run(
        [sys.executable, "-m", "overlay", "simulate", str(tmp_path / "clock.yaml"), "--json"],
        cwd=ROOT,
        env={**os.environ, VARIABLE: "clock:SYSTEM", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    assert (found["requests"], found["answered"]) == (40, 40), "two clients, ten questions a second, two seconds"
