"""The environment that ``make`` makes: installed once, again when the lock changes, and never half."""

import shutil
import subprocess
import sys
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from brokerweb.up.environment import (
    BROWSER,
    COMPILERS,
    MOSQUITTO,
    POSTGRESQL,
    ROOT,
    Environment,
    build_accelerator,
    find_browser,
    find_mosquitto,
    find_postgresql,
    install,
    link_client,
)
from tests.waiting import BOUND_S


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
    assert "creating venv with Python" in capsys.readouterr().err

    environment.install([lock])
    assert capsys.readouterr().err == ""

    lock.write_text("# nothing else\n")
    environment.install([lock])
    assert "installing requirements.txt" in capsys.readouterr().err

    (tmp_path / "venv" / "installed.json").write_text("{tor")
    environment.install([lock])
    assert "installing requirements.txt" in capsys.readouterr().err


def test_the_client_is_used_from_where_it_is(tmp_path):
    venv.create(tmp_path / "venv", symlinks=True)
    root = tmp_path / "installation"
    package = root / "clients" / "python" / "src" / "waxwing" / "cli"
    package.mkdir(parents=True)
    (package / "main.py").write_text("def main():\n    print('at work')\n    return 3\n")
    link_client(Environment(tmp_path / "venv").python, root)
    told = subprocess.run([tmp_path / "venv" / "bin" / "waxwing"], capture_output=True, text=True, check=False)
    assert (told.stdout, told.returncode) == ("at work\n", 3)


def make(*arguments):
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_help_names_every_target_in_a_line():
    listed = [line.split()[1] for line in make("help").stdout.splitlines()]
    assert listed == [
        "help",
        "up",
        "down",
        "test",
        "test-postgresql",
        "check",
        "clients",
        "accelerator",
        "soak",
        "service",
        "fuzz",
        "search-table",
        "bench",
        "bench-compare",
        "bench-peers",
        "calibrate",
        "lock",
    ]


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


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (BROWSER, "browser tests will be skipped: Chromium is missing"),
        (POSTGRESQL, "tests on PostgreSQL will be skipped: PostgreSQL is missing"),
        (MOSQUITTO, "tests with an MQTT server will be skipped: Mosquitto is missing"),
    ],
)
def test_what_cannot_be_installed_is_one_line(program, sentence, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    install(replace(program, find=lambda: None))
    assert capsys.readouterr().err.splitlines() == [f"{sentence}; install it with your package manager"]


def test_the_newest_server_of_postgresql_is_taken(monkeypatch, tmp_path):
    for version in ("9", "15", "17"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "postgres").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_postgresql(tmp_path) == tmp_path / "17" / "bin"
    assert find_postgresql(tmp_path / "nowhere") is None


def test_the_mqtt_server_is_found_off_the_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_mosquitto(tmp_path / "mosquitto") is None
    (tmp_path / "mosquitto").touch()
    assert find_mosquitto(tmp_path / "mosquitto") == str(tmp_path / "mosquitto")


@pytest.fixture
def source(tmp_path):
    """The accelerator's source in a house of its own."""
    source = tmp_path / "overlay" / "runtime" / "_datagrams.c"
    source.parent.mkdir(parents=True)
    shutil.copy(ROOT / "overlay" / "runtime" / "_datagrams.c", source)
    return source


def test_without_a_compiler_it_says_so_in_one_line_and_goes_on(source, tmp_path, monkeypatch, capsys):
    if not sys.platform.startswith("linux"):
        pytest.skip("the accelerator is for Linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    build_accelerator(Path(sys.executable), tmp_path)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "brokers run without the accelerator: there is no C compiler (Debian and Ubuntu: apt-get install gcc)"
    ]


@pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="there is no C compiler")
def test_the_accelerator_is_built_once_and_what_does_not_compile_stops_nothing(source, tmp_path, capsys):
    source.write_text(source.read_text() + "\nthis is no C\n")
    build_accelerator(Path(sys.executable), tmp_path)
    said = capsys.readouterr().err
    if "Python.h is missing" in said:
        pytest.skip("Python.h is missing")
    assert "brokers run without the accelerator" in said
    assert len(said.splitlines()) == 1

    shutil.copy(ROOT / "overlay" / "runtime" / "_datagrams.c", source)
    build_accelerator(Path(sys.executable), tmp_path)
    assert "built the accelerator" in capsys.readouterr().err
    build_accelerator(Path(sys.executable), tmp_path)
    assert capsys.readouterr().err == ""
    assert [file.suffix for file in source.parent.iterdir() if file != source] == [".so"]
