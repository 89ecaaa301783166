"""What the supervisor does once, so that brokers share it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.core.node import SECOND
from overlay.journal.facts import Tick
from overlay.journal.journal import read_journal
from overlay.runtime import warm_up
from overlay.systems.context_broker import rehearsal
from overlay.systems.registry import FIRST, SYSTEMS
from tests.waiting import BOUND_S


@pytest.fixture(autouse=True)
def one_system(monkeypatch):
    monkeypatch.setattr(warm_up, "SYSTEMS", {FIRST: SYSTEMS[FIRST]})


def test_it_leaves_nothing_behind_and_brokers_answered_in_it(monkeypatch, tmp_path):
    kept = tmp_path / "kept"
    monkeypatch.setattr(warm_up, "LONG_ENOUGH", 2 * SECOND)
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: path.rename(kept))
    warm_up.rehearse(tmp_path)
    assert list(tmp_path.iterdir()) == [kept]
    counters = [fact.counters for fact in read_journal(kept) if isinstance(fact, Tick)][-1]
    assert counters["hits"] == rehearsal.TIMES
    assert counters["rejected"] == 0


def test_a_signal_that_comes_meanwhile_reaches_the_supervisor(monkeypatch, tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("told"))
    monkeypatch.setattr(warm_up, "_play_clients", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    try:
        warm_up.rehearse(tmp_path)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == ["told"]


PROGRAM = """
import sys, pathlib, overlay.runtime.supervisor
from overlay.runtime.warm_up import rehearse
rehearse(pathlib.Path(sys.argv[1]))
print(*sorted({"networkx", "numpy", "yaml", "csv", "zipfile", "importlib.metadata"} & set(sys.modules)))
"""


def test_the_supervisor_imports_no_large_libraries_that_servers_do_without(tmp_path):
    """Every server has its share of them: NetworkX and YAML made an idle broker 2 MB larger."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=BOUND_S)
    assert found.stdout.strip() == ""
