"""What every process reports of itself: how its journal begins, and a tick of what it looks like.

A broker's memory is measured, so the journal's own module is imported only where there is one to write.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from overlay import __version__
from overlay.addresses import Address, format_address
from overlay.facts import Start, Tick
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.usage import memory, processor_us

if TYPE_CHECKING:
    from overlay.journal import JournalWriter


def open_journal(path: Path, process: str, zero_ns: int) -> JournalWriter:
    """The journal of this process, begun. ``zero_ns`` is the monotonic instant that its times count from."""
    from overlay.journal import JournalWriter

    return JournalWriter(path, make_start(process, zero_ns))


def prepare_journal(path: Path) -> JournalWriter:
    """The journal of a process that is yet to be forked, and begins it by itself."""
    from overlay.journal import JournalWriter

    return JournalWriter(path)


def make_start(process: str, zero_ns: int, address: Address | None = None) -> Start:
    """How the journal of this process begins. ``address`` is a broker's."""
    known_as = format_address(address) if address else ""
    return Start(process, os.getpid(), (zero_ns + wall_offset_ns()) // 1000, __version__, known_as)


def make_tick(process: str, at_us: int, counters: dict[str, int], histogram: str = "") -> Tick:
    """What this process looks like now."""
    rss, pss, uss = memory()
    return Tick(process, at_us, counters, histogram, rss, pss, uss, processor_us())
