"""What the supervisor does once, so that brokers share it."""

import signal
import subprocess
import sys

from overlay.facts import Tick
from overlay.journal import read_journal
from overlay.node import SECOND
from overlay.runtime import rehearsal


def test_it_leaves_nothing_behind_and_brokers_answered_in_it(monkeypatch, tmp_path):
    journals = []

    class Directory:
        """Kept, to be read afterwards."""

        def __enter__(self):
            return str(tmp_path)

        def __exit__(self, *_):
            journals.extend(read_journal(next(tmp_path.iterdir())))

    monkeypatch.setattr(rehearsal, "TemporaryDirectory", Directory)
    monkeypatch.setattr(rehearsal, "LONG_ENOUGH", 2 * SECOND)
    before = signal.getsignal(signal.SIGTERM)
    rehearsal.rehearse()
    assert signal.getsignal(signal.SIGTERM) is before
    counters = [fact.counters for fact in journals if isinstance(fact, Tick)][-1]
    assert counters["hits"] == rehearsal.TIMES
    assert counters["rejected"] == 0


TOLD_TO_END = """
import os, signal
from overlay.runtime import rehearsal

signal.signal(signal.SIGTERM, lambda *_: print("told"))
rehearsal._play_clients = lambda _: os.kill(os.getpid(), signal.SIGTERM)
rehearsal.rehearse()
print("free" if signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, ()) else "held back")
"""


def test_a_signal_that_comes_meanwhile_reaches_the_supervisor():
    """In a process of its own: like the supervisor it has one thread, and what that holds back no other takes."""
    done = subprocess.run([sys.executable, "-c", TOLD_TO_END], capture_output=True, text=True, timeout=20, check=False)
    assert (done.stdout, done.stderr) == ("told\nfree\n", "")
