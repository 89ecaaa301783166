"""What every process reports of itself: how its journal begins, and a tick of what it looks like.

A broker's memory is measured, so the journal's own module is imported only where there is one to write.
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
    """The journal of this process, begun. ``zero_ns`` is the monotonic instant that its times count from."""
    from overlay.journal.journal import JournalWriter

    return JournalWriter(path, make_start(process, zero_ns))


class ForgivingJournal:
    """The journal of what must not end for want of room: what a full disk refuses is lost, and what follows is kept.

    After a refusal it is opened again with the next fact, as that of a process that was started again.
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


def prepare_journal(path: Path) -> JournalWriter:
    """The journal of a process that is yet to be forked, and begins it by itself."""
    from overlay.journal.journal import JournalWriter

    return JournalWriter(path)


def make_start(process: str, zero_ns: int, address: Address | None = None) -> Start:
    """How the journal of this process begins. ``address`` is a broker's."""
    known_as = format_address(address) if address else ""
    return Start(process, os.getpid(), (zero_ns + wall_offset_ns()) // 1000, __version__, known_as)


def make_tick(process: str, at_us: int, counters: dict[str, int], histogram: str = "") -> Tick:
    """What this process looks like now."""
    rss, pss, uss = memory()
    return Tick(process, at_us, counters, histogram, rss, pss, uss, processor_us())
