"""An operator's questions to brokers and the registration service, for programs on their host.

Counterpart: ``overlay.systems.federation.inspection`` answers::

    with Inspector(("127.0.0.1", 7000)) as broker:
        for row in broker.rows(Subject.CLIENTS, limit=10).rows: ...
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from overlay.channel import wire
from overlay.core.addresses import Address
from overlay.core.errors import WaxwingError
from overlay.peers.questions import ASKER, Inspect, Inspected, Outcome, question, read_answer, read_content
from overlay.programs.questions import Questions
from overlay.systems.federation.subjects import Subject

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

    def __init__(self, server: Address, deadline_s: float = 10.0) -> None:
        self._questions = Questions(server, "a server of a federation")
        self._deadline_s, self._token, self._req = deadline_s, 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._questions.__exit__(kind, error, _)

    def state(self) -> Mapping[str, Any]:
        """What ``broker.view`` and ``bdrs.view`` tell of the server itself."""
        return self._ask(Subject.STATE)

    def figures(self) -> Mapping[str, int]:
        """All counters by name."""
        return self._ask(Subject.FIGURES)

    def rows(self, subject: Subject, *, offset: int = 0, limit: int = 100) -> Listed:
        """As many answers as ``limit`` rows need."""
        rows: list[Any] = []
        while True:
            found = self._ask(subject, min(offset + len(rows), MOST_OFFSET), limit - len(rows))
            rows += found["rows"]
            if not found["rows"] or len(rows) >= min(limit, found["total"] - offset):
                return Listed(found["total"], rows, found.get("epoch", 0))

    def _ask(self, subject: Subject, offset: int = 0, limit: int = 0) -> Mapping[str, Any]:
        ends = time.monotonic() + self._deadline_s
        while True:
            self._req += 1
            sent = Inspect(self._req, self._token, subject, offset, limit)
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
            raise NotInspected(f"{self._questions.name} answers, but not as a server of a federation.")
        return found
