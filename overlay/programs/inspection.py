"""An operator's questions to servers with the channel, for programs on their host.

Counterpart: ``overlay.peers.answers`` answers; a system has the subjects, and says what its servers are called::

    with Inspector(("127.0.0.1", 7000)) as broker:
        for row in broker.rows(Subject.CLIENTS, limit=10).rows: ...
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Self

import msgpack

from overlay.channel import wire
from overlay.core.addresses import Address
from overlay.core.errors import WaxwingError
from overlay.peers.questions import ASKER, FIGURES, Inspect, Inspected, Outcome, question, read_answer, read_content
from overlay.programs.questions import Questions

MOST_OFFSET = 0xFFFFFFFF


class NotInspected(WaxwingError):
    """The server answers programs on its own host only, or something else answered."""


@dataclass(frozen=True, slots=True)
class Listed:
    total: int
    rows: Sequence[Any]
    epoch: int = 0
    """Of the tree."""


class Inspector:
    """Questions to one server, each answered within ``deadline_s``. Methods raise ``NoAnswer`` and ``NotInspected``."""

    what: ClassVar[str]
    """The server that should be there: a broker of SilboPS."""

    def __init__(self, server: Address, deadline_s: float = 10.0) -> None:
        self._questions = Questions(server, self.what)
        self._deadline_s, self._token, self._req = deadline_s, 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._questions.__exit__(kind, error, _)

    def figures(self) -> Mapping[str, int]:
        """All counters by name."""
        return self.ask(FIGURES)

    def rows(self, subject: int, *, offset: int = 0, limit: int = 100) -> Listed:
        """As many answers as ``limit`` rows need."""
        rows: list[Any] = []
        while True:
            found = self.ask(subject, min(offset + len(rows), MOST_OFFSET), limit - len(rows))
            rows += found["rows"]
            if not found["rows"] or len(rows) >= min(limit, found["total"] - offset):
                return Listed(found["total"], rows, found.get("epoch", 0))

    def ask(self, subject: int, offset: int = 0, limit: int = 0, about: Any = None) -> Mapping[str, Any]:
        """``about``: what MessagePack can hold, for subjects that want it."""
        content = b"" if about is None else msgpack.packb(about)
        ends = time.monotonic() + self._deadline_s
        while True:
            self._req += 1
            sent = Inspect(self._req, self._token, subject, offset, limit, content=content)
            answer = self._exchange(sent, ends - time.monotonic())
            if answer.outcome is Outcome.ELSEWHERE:
                raise NotInspected(f"{self._questions.name} answers this only to programs on its own host.")
            if answer.outcome is Outcome.OK:
                return self._read(answer.content)
            self._token = answer.token  # a server that has restarted has another one

    def _exchange(self, sent: Inspect, left_s: float) -> Inspected:
        def read(data: bytes) -> Inspected | None:
            answer = read_answer(data)
            return answer if answer is not None and answer.req == sent.req else None

        return self._questions.ask(wire.loose(ASKER, question(sent)), read, left_s)

    def _read(self, content: bytes) -> Mapping[str, Any]:
        found = read_content(content)
        if not isinstance(found, dict):
            raise NotInspected(f"{self._questions.name} answers, but not as {self.what}.")
        return found
