"""``make fuzz``: rounds of property tests, each with a seed that it names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.thorough import thoroughly
from tests.waiting import BOUND_S

ROOT = Path(__file__).resolve().parents[2]
BUG = """
from hypothesis import given, strategies

@given(strategies.integers())
def test_numbers_are_small(number):
    assert number < 1000

def test_that_is_no_property():
    raise AssertionError("not asked for")
"""


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz", "--minutes", "0", "--processes", "0", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=BOUND_S)


@thoroughly
def test_a_round_passes_and_says_its_seed(tmp_path: Path) -> None:
    (tmp_path / "test_bug.py").write_text(BUG.replace("number < 1000", "True"))
    done = fuzz(str(tmp_path / "test_bug.py"))
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("round 1, --hypothesis-seed=")


def test_what_fails_is_told_with_its_example_and_ends_it(tmp_path: Path) -> None:
    (tmp_path / "test_bug.py").write_text(BUG)
    done = fuzz(str(tmp_path / "test_bug.py"))
    assert done.returncode == 1
    assert "number = 1000" in done.stdout.replace("number=1000", "number = 1000")
    assert "1 failed" in done.stdout, "and what is no property is not asked"
