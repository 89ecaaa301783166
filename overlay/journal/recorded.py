"""A wrapper that records the input and output of a server. Counterpart: ``overlay.journal.recording``, the file.

It replaces the server in either driver, so recording costs nothing when it is off. It records the calls of the driver
that change the server or collect its output. Attributes and methods that only read go directly to the server. Any other
method is refused, because the replay would miss it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.journal.recording import Recorder, What
from overlay.log.node import Assignment, Subscription
from overlay.log.topics import Append, Position, Record

QUERIES = frozenset({"knows", "check_invariants"})
"""Methods of all servers that only read."""


def recorded(
    server: Any, recorder: Recorder, clock: Callable[[], int], queries: Collection[str] = frozenset()
) -> RecordedServer:
    """The wrapper for ``server``, with or without a log and connections."""
    has_log, has_streams = hasattr(server, "subscriptions"), hasattr(server, "bytes_to_send")
    return _KINDS[has_log, has_streams](server, recorder, clock, queries)


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
        if hasattr(server, "set_usage"):
            self.set_usage = self._set_usage

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._server, name)
        if callable(found) and name not in self._queries:
            raise TypeError(f"recordings do not know the input {name!r}, so a replay would miss it")
        return found

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        if len(datagrams) > 1:
            self.recorder.write(What.BATCH, len(datagrams))
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

    def _set_usage(self, usage: tuple[int, int, int, int], now: int) -> None:
        self.recorder.write(What.USAGE, now, *usage)
        self._server.set_usage(usage, now)

    def leave(self, now: int) -> int:
        self.recorder.write(What.LEAVING, now)
        return int(self._server.leave(now))


class RecordedLogServer(RecordedServer):
    """Wraps a server that is an ``overlay.log.node.LogUser``. Its tokens are recorded as the numbers of its appends."""

    def __init__(
        self, server: Any, recorder: Recorder, clock: Callable[[], int], queries: Collection[str] = frozenset()
    ) -> None:
        super().__init__(server, recorder, clock, queries)
        self._appended = 0
        self._waiting: deque[tuple[int, object]] = deque()
        """The numbers and tokens of appends that are not durable yet, in their order."""

    def subscriptions(self) -> tuple[Subscription, ...]:
        found: tuple[Subscription, ...] = self._server.subscriptions()
        return found

    def room(self, subscription: Subscription) -> int:
        return int(self._server.room(subscription))

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        self.recorder.write(What.ASSIGNED, now, list(partitions))
        self._server.assigned(partitions, now)

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        self.recorder.write(What.REVOKED, now, list(partitions))
        self._server.revoked(partitions, now)

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        self.recorder.write(What.READ, now, list(records))
        self._server.receive_records(records, now)

    def appended(self, tokens: Sequence[object], now: int) -> None:
        numbers = []
        for token in tokens:
            number, waiting = self._waiting.popleft()
            assert waiting is token, "appends are durable in their order"
            numbers.append((number,))
        self.recorder.write(What.DURABLE, now, numbers)
        self._server.appended(tokens, now)

    def records_to_append(self) -> Sequence[Append]:
        appends: Sequence[Append] = self._server.records_to_append()
        if appends:
            at = self._clock()
            for topic, key, value, token in appends:
                self.recorder.write(What.APPENDED, at, topic, key, value)
                if token is not None:
                    self._waiting.append((self._appended, token))
                self._appended += 1
        return appends

    def positions_to_commit(self) -> Sequence[Position]:
        positions: Sequence[Position] = self._server.positions_to_commit()
        if positions:
            at = self._clock()
            for position in positions:
                self.recorder.write(What.COMMITTED, at, *position)
        return positions


class RecordedStreamServer(RecordedServer):
    """Wraps a server that is an ``overlay.core.streams.StreamUser``."""

    def opened(self, number: int, now: int) -> None:
        self.recorder.write(What.OPENED, now, number)
        self._server.opened(number, now)

    def received(self, number: int, data: bytes, now: int) -> None:
        self.recorder.write(What.STREAMED, now, number, data)
        self._server.received(number, data, now)

    def closed(self, number: int, now: int) -> None:
        self.recorder.write(What.CLOSED, now, number)
        self._server.closed(number, now)

    def reads(self, number: int) -> bool:
        return bool(self._server.reads(number))

    def bytes_to_send(self) -> Sequence[tuple[int, bytes]]:
        found: Sequence[tuple[int, bytes]] = self._server.bytes_to_send()
        if found:
            at = self._clock()
            for number, data in found:
                self.recorder.write(What.WRITTEN, at, number, data)
        return found

    def connections_to_close(self) -> Sequence[int]:
        found: Sequence[int] = self._server.connections_to_close()
        if found:
            at = self._clock()
            for number in found:
                self.recorder.write(What.ENDS, at, number)
        return found


class RecordedStreamLogServer(RecordedStreamServer, RecordedLogServer):
    """Wraps a server with both."""


_KINDS: Mapping[tuple[bool, bool], type[RecordedServer]] = {
    (False, False): RecordedServer,
    (True, False): RecordedLogServer,
    (False, True): RecordedStreamServer,
    (True, True): RecordedStreamLogServer,
}
"""By whether there is a log, and whether there are connections."""
