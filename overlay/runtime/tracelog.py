"""What a broker of a network traced, in two small files: a network stays up, so a journal would grow for ever.

Counterpart: the pages of a network look for one query in it. A disk without room costs traces and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from overlay.journal.facts import Fact, Start
from overlay.journal.journal import JournalWriter

MOST_BYTES = 128 * 1024
"""Of each of the two: the newest steps of some thousand queries."""


class TraceLog:
    """Appends to ``path`` until that is full, and goes on with an empty one; the full one stays, named ``.old``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start: Start | None = None
        self._journal: JournalWriter | None = None

    def begin(self, start: Start) -> None:
        """Whose traces these are."""
        self._start = start

    def write(self, traces: Iterable[Fact]) -> None:
        """All of ``traces`` at once, or what the disk has room for."""
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
            assert self._start is not None, "it has not begun"
            self._journal = JournalWriter(self._path, self._start)
        return self._journal

    def _turn_over(self) -> None:
        self.close()
        self._path.replace(self._path.with_name(f"{self._path.name}.old"))
