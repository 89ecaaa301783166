"""An index of the trace files of a network's brokers: files are read once, then incrementally.

Counterpart: ``overlay.runtime.tracelog`` writes two files per broker of at most 128 kB; a full one is renamed. An index
entry has 12 bytes; both files of a broker have some 20 kB of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

from overlay.journal.facts import Start, Trace
from overlay.journal.frames import HEAD
from overlay.journal.journal import Journal
from telemetry.systems.context_broker.traces import id_of


class TraceFiles:
    """All files of one network."""

    def __init__(self) -> None:
        self._files: dict[Path, _TraceFile] = {}

    def facts(self, directory: Path, trace: str) -> list[Start | Trace]:
        """Trace records of a query by id, and its brokers; all files are checked, few are read."""
        paths = sorted(directory.glob("broker-*.journal*"))
        self._files = {path: self._files.get(path) or _TraceFile(path) for path in paths}
        return [fact for file in self._files.values() for fact in file.facts(int(trace, 16))]


class _TraceFile:
    """One partly read file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._begin()

    def _begin(self) -> None:
        self._journal = Journal(self._path, kinds=(Start, Trace))
        self._starts: list[Start] = []
        self._ids, self._places = array("Q"), array("L")
        self._last, self._mark = 0, b""

    def facts(self, query: int) -> Iterator[Start | Trace]:
        try:
            self._read_on()
            yield from self._starts
            for at, known in zip(self._places, self._ids, strict=True):
                if known == query:
                    yield from self._trace_at(at)
        except FileNotFoundError:  # rotated since the listing
            self._seen = None

    def _read_on(self) -> None:
        status = self._path.stat()
        if self._seen == (seen := (status.st_ino, status.st_size, status.st_mtime_ns)):
            return
        if not self._is_the_same():
            self._begin()
        at = self._journal.offset
        for fact in self._journal:
            if isinstance(fact, Start):
                self._starts.append(fact)
            elif isinstance(fact, Trace):
                self._ids.append(int(id_of((fact.consumer, fact.timestamp_ms, fact.entity)), 16))
                self._places.append(at)
            self._last, at = at, self._journal.offset
        self._mark = self._head()
        self._seen = seen

    def _is_the_same(self) -> bool:
        """Whether the last frame is still at its position: files are renamed, and inodes reused."""
        return bool(self._mark) and self._head() == self._mark

    def _head(self) -> bytes:
        """Length and checksum of the last frame."""
        if not self._journal.offset:
            return b""
        with self._path.open("rb") as file:
            file.seek(self._last)
            return file.read(HEAD.size)

    def _trace_at(self, at: int) -> Iterator[Trace]:
        """The trace at an offset; none if another file replaced the indexed one."""
        for fact in Journal(self._path, at, kinds=(Trace,)):
            if isinstance(fact, Trace):
                yield fact
            return
