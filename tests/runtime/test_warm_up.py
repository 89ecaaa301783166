"""What the supervisor does once, so that brokers share it."""

import os
import signal
from pathlib import Path

import pytest

from overlay.core.node import SECOND
from overlay.journal.facts import Tick
from overlay.journal.journal import read_journal
from overlay.runtime import warm_up
from overlay.systems.context_broker import rehearsal
from overlay.systems.registry import FIRST, SYSTEMS


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
