"""A wrapper that records the input and output of a server. Counterpart: ``overlay.journal.recording``, the file.

It replaces the server in either driver, so recording costs nothing when it is off. It records the calls of the driver
that change the server or collect its output. Attributes and methods that only read go directly to the server. Any other
method is refused, because the replay would miss it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.journal.recording import Recorder, What

QUERIES = frozenset({"knows", "check_invariants"})
"""Methods of all servers that only read."""


class RecordedServer:
    """Wraps ``server`` of any system. ``clock`` returns the monotonic nanoseconds when output is collected.
    ``queries`` are the other methods that only read, from ``System.queries``."""

    def __init__(
        self, server: Any, recorder: Recorder, clock: Callable[[], int], queries: Collection[str] = frozenset()
    ) -> None:
        self.recorder = recorder
        self._queries = QUERIES.union(queries)
        self._server = server
        self._clock = clock
        self.next_timer = server.next_timer
        self.events = server.events

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._server, name)
        if callable(found) and name not in self._queries:
            raise TypeError(f"recordings do not know the input {name!r}, so a replay would miss it")
        return found

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            self.recorder.write(What.RECEIVED, now, *source, data)
        self._server.receive_datagrams(datagrams, now)

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        self.receive_datagrams(((data, source),), now)

    def handle_timer(self, now: int) -> None:
        self.recorder.write(What.TIMER, now)
        self._server.handle_timer(now)

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        datagrams: Sequence[tuple[bytes, Address]] = self._server.datagrams_to_send()
        if datagrams:
            at = self._clock()
            for data, to in datagrams:
                self.recorder.write(What.SENT, at, *to, data)
        return datagrams

    def traces(self) -> Sequence[Any]:
        self.recorder.write(What.TRACED)
        traces: Sequence[Any] = self._server.traces()
        return traces

    def set_wall_clock(self, offset_ns: int) -> None:
        self.recorder.write(What.CLOCK, offset_ns)
        self._server.set_wall_clock(offset_ns)

    def statistics(self, now: int) -> dict[str, int]:
        self.recorder.write(What.COUNTED, now)
        counters: dict[str, int] = self._server.statistics(now)
        return counters

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        self.recorder.write(What.FAULT, now, json.dumps(document), begins)
        self._server.fault(document, begins, now)

    def leave(self, now: int) -> int:
        self.recorder.write(What.LEAVING, now)
        return int(self._server.leave(now))
