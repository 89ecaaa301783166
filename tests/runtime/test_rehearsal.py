"""What the supervisor does once, so that brokers share it."""

import signal
import subprocess
import sys
from pathlib import Path

from overlay.facts import Tick
from overlay.journal import read_journal
from overlay.node import SECOND
from overlay.runtime import rehearsal


def test_it_leaves_nothing_behind_and_brokers_answered_in_it(monkeypatch, tmp_path):
    kept = tmp_path / "kept"
    monkeypatch.setattr(rehearsal, "LONG_ENOUGH", 2 * SECOND)
    monkeypatch.setattr(Path, "unlink", lambda path: path.rename(kept))
    before = signal.getsignal(signal.SIGTERM)
    rehearsal.rehearse(tmp_path)
    assert signal.getsignal(signal.SIGTERM) is before
    assert list(tmp_path.iterdir()) == [kept]
    counters = [fact.counters for fact in read_journal(kept) if isinstance(fact, Tick)][-1]
    assert counters["hits"] == rehearsal.TIMES
    assert counters["rejected"] == 0


TOLD_TO_END = """
import os, signal, sys
from pathlib import Path
from overlay.runtime import rehearsal

signal.signal(signal.SIGTERM, lambda *_: print("told"))
rehearsal._play_clients = lambda _: os.kill(os.getpid(), signal.SIGTERM)
rehearsal.rehearse(Path(sys.argv[1]))
print("free" if signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, ()) else "held back")
"""


def test_a_signal_that_comes_meanwhile_reaches_the_supervisor(tmp_path):
    """In a process of its own: like the supervisor it has one thread, and what that holds back no other takes."""
    command = [sys.executable, "-c", TOLD_TO_END, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (done.stdout, done.stderr) == ("told\nfree\n", "")
