"""The environment that ``make`` makes: installed once, again when the lock changes, and never half."""

import shutil
import subprocess

import pytest

from brokerweb.up.environment import ROOT, Environment, find_browser

pytestmark = pytest.mark.xdist_group("real-processes")


@pytest.fixture
def lock(tmp_path):
    """A requirement file that asks for nothing, so that no package index is needed."""
    file = tmp_path / "requirements.txt"
    file.write_text("# nothing\n")
    return file


def test_it_installs_once_and_again_when_the_lock_changes_or_it_was_interrupted(tmp_path, lock, capsys):
    (tmp_path / "venv" / "bin").mkdir(parents=True)  # half-made
    environment = Environment(tmp_path / "venv")
    environment.install([lock])
    assert "making venv" in capsys.readouterr().err

    environment.install([lock])
    assert capsys.readouterr().err == ""

    lock.write_text("# nothing else\n")
    environment.install([lock])
    assert "installing requirements.txt" in capsys.readouterr().err

    (tmp_path / "venv" / "installed.json").write_text("{tor")
    environment.install([lock])
    assert "installing requirements.txt" in capsys.readouterr().err


def make(*arguments):
    return subprocess.run(
        ["make", "--no-print-directory", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_help_names_every_target_in_a_line():
    listed = [line.split()[1] for line in make("help").stdout.splitlines()]
    assert listed == ["help", "up", "down", "test", "check", "search-table", "bench-peers", "lock"]


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_without_a_new_enough_python_it_says_what_to_install():
    result = make("up", "PYTHON=/nowhere/python3")
    assert result.returncode != 0
    assert result.stderr.splitlines()[0].startswith("Waxwing needs Python 3.11 or newer.")


def test_the_browser_is_looked_for_under_its_usual_names(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() is None
    (tmp_path / "chromium").write_text("#!/bin/sh\n")
    (tmp_path / "chromium").chmod(0o755)
    assert find_browser() == str(tmp_path / "chromium")
