"""An operator's questions to a server: figures, clients, what is pending. For programs on the server's host.

Counterpart: ``overlay.systems.radiator.server.inspection`` answers::

    with Inspector(("127.0.0.1", 7000)) as server:
        for row in server.clients(limit=10)["rows"]: ...
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from overlay.core.addresses import Address
from overlay.core.binary import read_untrusted
from overlay.core.errors import WireError
from overlay.programs.questions import Questions
from overlay.programs.radiator.client import Refused
from overlay.systems.radiator.system import PADDING_BYTES
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.messages import Inspect, Inspected, Inspection, Subject

MOST_OFFSET, MOST_AT_ONCE = 0xFFFFFFFF, 0xFFFF


class NotAServer(Refused):
    """Something else than a server of Radiator answered."""


class Inspector:
    """Questions to one server, each answered within ``deadline_s``. Methods raise ``NoAnswer`` and ``Refused``."""

    def __init__(self, server: Address, deadline_s: float = 10.0) -> None:
        self._deadline_s, self._token, self._req = deadline_s, 0, 0
        self._questions = Questions(server, "a server of Radiator")
        self._name = self._questions.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._questions.__exit__(kind, error, _)

    def figures(self) -> dict[str, int]:
        """The server's counters by name."""
        return self._ask(Subject.FIGURES)

    def clients(self, *, reachable: bool | None = None, offset: int = 0, limit: int = 100) -> dict[str, Any]:
        """``{total, rows}``, clients in order of registration; with ``reachable`` only those that are, or are not."""
        return self._rows(Subject.CLIENTS, 0 if reachable is None else 2 - reachable, offset, limit)

    def pending(self, *, offset: int = 0, limit: int = 100) -> dict[str, Any]:
        """``{total, rows, retained, is_whole}``: queues, those that leave first come first, and messages retained.
        ``is_whole`` is false if the server has more queues than it looks at."""
        return self._rows(Subject.PENDING, 0, offset, limit)

    def _rows(self, subject: Subject, clients: int, offset: int, limit: int) -> dict[str, Any]:
        """As many answers as ``limit`` rows need."""
        rows: list[Any] = []
        while True:
            skipped, left = min(offset + len(rows), MOST_OFFSET), min(limit - len(rows), MOST_AT_ONCE)
            found = self._ask(subject, clients, skipped, left)
            rows += found["rows"]
            if not found["rows"] or len(rows) >= min(limit, found["total"] - offset):
                return {**found, "rows": rows}

    def _ask(self, subject: Subject, clients: int = 0, offset: int = 0, limit: int = 0) -> dict[str, Any]:
        ends = time.monotonic() + self._deadline_s
        while True:
            self._req += 1
            padding = bytes(PADDING_BYTES) if subject is Subject.FIGURES else b""
            answer = self._exchange(
                Inspect(self._req, self._token, subject, clients, offset, limit, padding), ends - time.monotonic()
            )
            if answer.code == Inspection.ELSEWHERE:
                raise Refused(f"{self._name} answers this only to programs on its own host.")
            if answer.code == Inspection.OK:
                return self._read(answer.body)
            self._token = answer.token  # a server that has restarted has another one

    def _exchange(self, request: Inspect, left_s: float) -> Inspected:
        def read(data: bytes) -> Inspected | None:
            try:
                message = parse(data)
            except WireError:
                raise NotAServer(f"{self._name} answers, but is no server of Radiator.") from None
            return message if isinstance(message, Inspected) and message.req == request.req else None

        return self._questions.ask(encode(request), read, left_s)

    def _read(self, body: bytes) -> dict[str, Any]:
        try:
            found: dict[str, Any] = read_untrusted(body)
        except WireError as error:
            raise NotAServer(f"{self._name} answers, but not as a server of Radiator: {error}") from None
        return found
