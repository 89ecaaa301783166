"""The stories of the toy systems, in a process whose environment names one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.plugins import VARIABLE
from tests.thorough import thoroughly
from tests.waiting import BOUND_S

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "toy", ["echo", pytest.param("echo_directory", marks=thoroughly), pytest.param("herald", marks=thoroughly)]
)
def test_a_toy_system_is_at_home_in_every_interface(toy):
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/systems/stories_of_{toy}.py"],
        cwd=ROOT,
        env={**os.environ, VARIABLE: f"tests.systems.{toy}:SYSTEM"},
        capture_output=True,
        text=True,
        timeout=3 * BOUND_S,  # a run of its own with several stories, next to other tests
        check=False,
    )
    assert told.returncode == 0, told.stdout[-6000:]
