"""The facts that every process reports: the start of its journal, and its ticks.

The module of journals is imported only if there is one, because the memory of brokers is measured.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from overlay import __version__
from overlay.core.addresses import Address, format_address
from overlay.journal.facts import Start, Tick
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.usage import memory, processor_us

if TYPE_CHECKING:
    from overlay.journal.facts import Fact
    from overlay.journal.journal import JournalWriter


def open_journal(path: Path, process: str, zero_ns: int) -> JournalWriter:
    """Open and begin the journal of this process. ``zero_ns`` is the monotonic origin of its times."""
    from overlay.journal.journal import JournalWriter

    return JournalWriter(path, make_start(process, zero_ns))


class ForgivingJournal:
    """A journal for processes that must survive a full disk: facts that cannot be written are lost, later ones are
    kept.

    After an error it is opened again with the next fact, like that of a restarted process.
    """

    def __init__(self, path: Path, process: str, zero_ns: int) -> None:
        self._path, self._process, self._zero_ns = path, process, zero_ns
        self._writer: JournalWriter | None = None

    def write(self, fact: Fact) -> None:
        try:
            self._writer = self._writer or open_journal(self._path, self._process, self._zero_ns)
            self._writer.write(fact)
        except OSError:
            self._give_up()

    def flush(self) -> None:
        try:
            if self._writer is not None:
                self._writer.flush()
        except OSError:
            self._give_up()

    def close(self) -> None:
        self.flush()
        self._give_up()

    def _give_up(self) -> None:
        if self._writer is not None:
            self._writer.abandon()
            self._writer = None


def supervisor_journal(path: Path, zero_ns: int, *, is_forgiving: bool) -> JournalWriter | ForgivingJournal:
    """The supervisor's journal of a deployment."""
    return (ForgivingJournal if is_forgiving else open_journal)(path, "supervisor", zero_ns)


def prepare_journal(path: Path) -> JournalWriter:
    """The journal of a process before its fork, which then begins it."""
    from overlay.journal.journal import JournalWriter

    return JournalWriter(path)


def make_start(process: str, zero_ns: int, address: Address | None = None) -> Start:
    """The first fact of this process's journal. ``address`` is that of a broker."""
    known_as = format_address(address) if address else ""
    return Start(process, os.getpid(), (zero_ns + wall_offset_ns()) // 1000, __version__, known_as)


def make_tick(process: str, at_us: int, counters: dict[str, int], histogram: str = "") -> Tick:
    """The current state of this process."""
    rss, pss, uss = memory()
    return Tick(process, at_us, counters, histogram, rss, pss, uss, processor_us())
