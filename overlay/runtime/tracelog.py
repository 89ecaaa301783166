"""The traces of a network's broker, in two small files. A journal would grow without limit, as networks stay up.

Counterpart: the pages of a network search it for single queries. On a full disk only traces are lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from overlay.journal.facts import Fact, Start
from overlay.journal.journal import JournalWriter

MOST_BYTES = 128 * 1024
"""Maximum size of each file: the newest steps of about a thousand queries."""


class TraceLog:
    """Appends to ``path`` until it is full, renames it to ``.old`` and starts a new file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start: Start | None = None
        self._journal: JournalWriter | None = None

    def begin(self, start: Start) -> None:
        """Set the process of the traces."""
        self._start = start

    def write(self, traces: Iterable[Fact]) -> None:
        """Write all ``traces``, or as many as fit on the disk."""
        try:
            for trace in traces:
                self._opened().write(trace)
            if self._journal is not None:
                self._journal.flush()
                if self._path.stat().st_size >= MOST_BYTES:
                    self._turn_over()
        except OSError:
            self.close()

    def close(self) -> None:
        journal, self._journal = self._journal, None
        if journal is not None:
            with suppress(OSError):
                journal.close()

    def _opened(self) -> JournalWriter:
        if self._journal is None:
            assert self._start is not None, "begin was not called"
            self._journal = JournalWriter(self._path, self._start)
        return self._journal

    def _turn_over(self) -> None:
        self.close()
        self._path.replace(self._path.with_name(f"{self._path.name}.old"))
