"""Messages and contexts of nodes, on their way to the log. They are acknowledged when their record is durable there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.codec import BadRecord
from overlay.systems.contextnet.records.kinds import MOST_CONTEXT
from overlay.systems.contextnet.records.records import ALL, ContextReport, Groupcast, Inbound, Message
from overlay.systems.contextnet.transport.events import Arrived, Receipt
from overlay.systems.contextnet.transport.packets import Kind
from overlay.systems.contextnet.transport.settings import FIRST_RTO

BATCH: Final = 32
"""Datagrams that drivers receive at once, if so many are there."""
SHEDS_AFTER: Final = 3
"""Times ``busy_ms``: most nodes have then been told that we are busy, and what waits still would wait for so long that
it is sent again."""
AGAIN: Final = 600 * SECOND
"""A context that stays the same is reported again after that, so that the log has it for readers that come later."""
_NO_GROUPS: Final = frozenset(names.OF_SYSTEM)


class _Input:
    """One message that is not durable yet."""

    __slots__ = ("came_at", "is_done", "size")

    def __init__(self, came_at: int, size: int) -> None:
        self.came_at, self.size = came_at, size
        self.is_done = False


class FromNodes:
    def __init__(self, station: Station) -> None:
        self._station = station
        self._publishable = station.config.publishable
        self._inputs: deque[_Input] = deque()
        """In the order in which they came; the first one is not done."""
        self._reported: dict[bytes, tuple[int, bytes, int]] = {}
        """By node: epoch and digest of the context that was reported last, and until when the same is not news."""
        self._busy = station.settings.busy_ms * MILLISECOND
        self.bytes = 0
        """Of messages that are not durable yet."""
        self.messages = 0
        """From nodes since the start."""
        self._full_since: int | None = None
        """Since when each batch of datagrams was full; ``None``: the last one was not."""
        self._came_at = 0
        """When the last batch came."""
        self._shed_at: int | None = None
        """When datagrams were last dropped."""

    def came(self, datagrams: int, now: int) -> None:
        """A batch of so many. As long as all are full, others wait in the socket."""
        if datagrams < BATCH:
            self._full_since = None
        elif self._behind(now) is None:
            self._full_since = now
        self._came_at = now

    def _behind(self, now: int) -> int | None:
        """For how long datagrams have waited in the socket; ``None``: none do. After a full batch that happened to be
        the last, no other comes within ``busy_ms``."""
        return None if self._full_since is None or now - self._came_at > self._busy else now - self._full_since

    @property
    def is_behind(self) -> bool:
        """Whether datagrams wait in the socket."""
        return self._behind(self._station.now) is not None

    @property
    def is_shedding(self) -> bool:
        """Whether they have waited for so long that more is lost by reading them all."""
        return (self._behind(self._station.now) or 0) > SHEDS_AFTER * self._busy

    def arrived(self, event: Arrived) -> None:
        if event.kind is Kind.MESSAGE:
            self._message(event)
        elif event.kind is Kind.CONTEXT:
            self._context_alone(event)
        else:
            self._drop(event.receipt, "dropped_kind")

    def ended(self, node: bytes) -> None:
        """Its connection is gone."""
        self._reported.pop(node, None)

    def look(self, now: int) -> None:
        """Find out whether we are busy: the oldest input waits for too long, in the socket or until it is durable;
        cleared below half of that, and not until what was dropped has come again."""
        waited = max(now - self._inputs[0].came_at if self._inputs else 0, self._behind(now) or 0)
        if self.is_shedding:
            self._shed_at = now
        end = self._station.end
        is_repeated = self._shed_at is not None and now - self._shed_at < FIRST_RTO
        end.is_busy = is_repeated or waited > (self._busy // 2 if end.is_busy else self._busy)

    # ---- inner

    def _message(self, event: Arrived) -> None:
        self.messages += 1
        station, node = self._station, event.node
        try:
            message = codec.read_message(event.data)
        except BadRecord:
            self._drop(event.receipt, "dropped_unreadable")
            return
        if message.source != node.hex():
            self._drop(event.receipt, "dropped_source")
            return
        epoch = station.end.epoch_of(node)
        found = self._where(message, node, epoch)
        if found is None:
            self._drop(event.receipt, "dropped_destination")
            return
        if message.context and self._is_news(node, epoch, message.context):
            self._report(node, epoch, message.context, None)
        topic, key, record = found
        self._append(topic, key, codec.write(record), event, self._traced(message.id, node, topic))

    def _traced(self, id: bytes, node: bytes, topic: str) -> Callable[[], None] | None:
        """What to note when the record of a message is durable; ``None`` if its node is not traced."""
        station = self._station
        tracer = station.tracer
        if not tracer.follows(node):
            return None
        tracer.note("received", id, node, station.now, topic)
        return lambda: tracer.note("appended", id, node, station.now, topic)

    def _where(self, message: Message, node: bytes, epoch: int) -> tuple[str, bytes, Inbound | Groupcast] | None:
        """Topic, key and record; ``None``: nodes may not write there."""
        to = message.destination
        if to in self._publishable:
            return to, node, Inbound(message, self._station.name, epoch)
        if to == ALL:
            return names.BROADCAST, ALL.encode(), Groupcast(message, ALL)
        if to in _NO_GROUPS or "." in to:
            return None
        return names.GROUPCAST, to.encode(), Groupcast(message, to)

    def _is_news(self, node: bytes, epoch: int, context: bytes) -> bool:
        """Whether it differs from the last one of this connection, or that was reported ``AGAIN`` ago."""
        now, digest = self._station.now, blake2b(context, digest_size=8).digest()
        known = self._reported.get(node)
        if known is not None and known[:2] == (epoch, digest) and now < known[2]:
            return False
        self._reported[node] = epoch, digest, now + AGAIN
        return True

    def _context_alone(self, event: Arrived) -> None:
        if len(event.data) > MOST_CONTEXT:
            self._drop(event.receipt, "dropped_context")
        else:
            self._reported.pop(event.node, None)
            self._report(event.node, self._station.end.epoch_of(event.node), event.data, event)

    def _report(self, node: bytes, epoch: int, context: bytes, event: Arrived | None) -> None:
        value = codec.write(ContextReport(node, epoch, context, self._station.wall_us))
        if event is None:
            self._station.append(names.CONTEXT_REPORT, node, value)
        else:
            self._append(names.CONTEXT_REPORT, node, value, event)

    def _append(
        self, topic: str, key: bytes, value: bytes, event: Arrived, then: Callable[[], None] | None = None
    ) -> None:
        item, receipt = _Input(self._station.now, len(value)), event.receipt
        self._inputs.append(item)
        self.bytes += item.size
        self._station.append(topic, key, value, lambda: self._durable(item, receipt, then))

    def _durable(self, item: _Input, receipt: Receipt | None, then: Callable[[], None] | None) -> None:
        if then is not None:
            then()
        item.is_done = True
        self.bytes -= item.size
        while self._inputs and self._inputs[0].is_done:
            self._inputs.popleft()
        if receipt is not None:
            self._station.end.settle(receipt, self._station.now)

    def _drop(self, receipt: Receipt | None, reason: str) -> None:
        """It is acknowledged, for it would be the same if it came again."""
        self._station.counters[reason] += 1
        if receipt is not None:
            self._station.end.settle(receipt, self._station.now)

    def check_invariants(self) -> None:
        assert self._reported.keys() <= self._station.end.members.keys()
        assert not self._inputs or not self._inputs[0].is_done
        assert self.bytes == sum(item.size for item in self._inputs if not item.is_done)
