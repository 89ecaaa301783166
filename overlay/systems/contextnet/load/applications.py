"""An application of a workload: it answers messages of nodes, and sends messages to nodes, over the log.

It handles one message at a time, with service times and pauses as the workload has them. A record of a message is
settled when its answer is durable.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND
from overlay.core.timers import earliest
from overlay.journal.facts import ClientFact
from overlay.log.node import Assignment, Subscription
from overlay.log.progress import Progress
from overlay.log.topics import Append, Position, Record
from overlay.systems.contextnet.load.draws import exponential, region_name
from overlay.systems.contextnet.load.open import US, Open, Stream, Waiting
from overlay.systems.contextnet.load.plans import ClientPlan
from overlay.systems.contextnet.load.shared import Shared
from overlay.systems.contextnet.names import APPLICATION, answer_id, application_name, node_id
from overlay.systems.contextnet.nodes.recent import Recent
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.names import GROUPCAST, INBOUND, answers_topic
from overlay.systems.contextnet.records.records import Groupcast, Message, Outbound, Reason, Unsent
from overlay.systems.contextnet.routing.directory import Directory
from overlay.systems.contextnet.rows import Cast, Held, Repeated, row
from overlay.systems.contextnet.workload import OUTBOUND

MOST_UNSETTLED = 1_024
"""Records read and not settled, of which more are not read."""
GROUP = "applications"


class Application:
    peer = None

    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        self.number, self.shared = plan.number, shared
        self.name = application_name(plan.number)
        self.wall_offset_ns = shared.wall_offset_ns
        workload, draws, settings = shared.workload, shared.draws, shared.settings
        self._chance = draws.stream(APPLICATION, plan.number)
        self._directory = Directory(settings, self.name)
        self._answers = answers_topic(self.name)
        self._subscriptions = (
            *self._directory.subscriptions,
            Subscription(self._answers, self.name),
            Subscription(INBOUND, GROUP),
        )
        self._progress, self._appends = Progress(), list[Append]()
        self._seen = Recent(settings.dedup_ids, settings.dedup_s)
        self._received: set[bytes] = set()
        """Ids of all messages that were handed over."""
        self._open = Open(APPLICATION, plan.number, shared.windows, shared.tally)
        self._rounds = _Rounds(shared, plan.number) if workload.is_outbound else None
        self._casts = Stream(draws.casts(plan.number), shared.windows.measuring)
        self._desk = _Desk(shared, plan.number)
        self._facts: list[ClientFact] = []
        self._is_over = False

    @property
    def identity(self) -> tuple[str, int]:
        return APPLICATION, self.number

    @property
    def is_finished(self) -> bool:
        return self._is_over

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it is due or waits."""
        return not len(self._open) and not self._desk.queue and self._next_send is None

    def set_wall_clock(self, offset_ns: int) -> None:
        self.wall_offset_ns = offset_ns

    # ---- for drivers of clients

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        return False  # no sender knows its address

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        return ()

    def lanes_to_close(self) -> Sequence[int]:
        return ()

    def handle_timer(self, now: int) -> None:
        for record, message in self._desk.done(now):
            self._handle(record, message, now)
        if self._directory.is_ready:
            self._send_due(now)
        while (due := self._casts.next_due) is not None and due <= now:
            self._cast(now)

    def next_timer(self) -> int | None:
        sends = self._next_send if self._directory.is_ready else None
        return earliest(self._desk.next_done, sends, self._casts.next_due)

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, []
        return [*facts, *self._open.facts()]

    def abandon(self, now: int) -> None:
        if not self._is_over:
            self._is_over = True
            self._open.abandon(now)
            for _, message in self._desk.queue:
                self._report(Held(message.id.hex()), now)

    # ---- a LogUser

    def subscriptions(self) -> tuple[Subscription, ...]:
        return self._subscriptions

    def room(self, subscription: Subscription) -> int:
        return max(0, MOST_UNSETTLED - self._progress.unsettled())

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        self._progress.assigned(partitions)
        self._directory.assigned(partitions)

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        self._progress.revoked(partitions)
        self._directory.revoked(partitions)
        gone = {(one.topic, one.partition) for one in partitions}
        self._desk.forget(gone)

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        for record in records:
            self._progress.read(record)
            try:
                if record.topic in (INBOUND, self._answers):
                    self._receive(record, codec.read(record.topic, record.value).message, now)
                else:
                    self._directory.read(record)
                    self._settle(record)
            except WireError:
                self.shared.tally.counters["unreadable"] += 1
                self._settle(record)

    def records_to_append(self) -> Sequence[Append]:
        appends, self._appends = self._appends, []
        return appends

    def appended(self, tokens: Sequence[object], now: int) -> None:
        for token in tokens:
            assert isinstance(token, Record)
            self._settle(token)

    def positions_to_commit(self) -> Sequence[Position]:
        return self._progress.positions_to_commit()

    # ---- what it does

    def _receive(self, record: Record, message: Message, now: int) -> None:
        self._traced("read", message.id, record.key, now, record=record)  # both topics have nodes as their keys
        if record.topic == self._answers:
            self._open.answered(message.id, now)
            self._settle(record)
        else:
            self._desk.take(record, message, now)
            for done in self._desk.done(now):
                self._handle(*done, now)

    def _handle(self, record: Record, message: Message, now: int) -> None:
        self.shared.tally.counters["handled"] += 1
        if not self._seen.add(message.id, now):
            self._settle(record)
            return
        if message.id in self._received:
            self._report(Repeated(message.id.hex(), self.shared.us(now)), now)
        self._received.add(message.id)
        payload, node = bytes(self.shared.workload.payload_bytes), bytes.fromhex(message.reply_to)
        self._to_node(node, self._compose(message.reply_to, payload, now, id=answer_id(message.id)), record, now)

    def _to_node(self, node: bytes, message: Message, token: Record | None, now: int) -> None:
        route = self._directory.route(node)
        value: Outbound | Unsent = Outbound(message, route.epoch)
        if route.is_absent:
            value = Unsent(message, "", route.epoch, Reason.ABSENT)
        self._appends.append(Append(route.topic, node, codec.write(value), token))
        self._traced("unsent" if route.is_absent else "sent", message.id, node, now, topic=route.topic)

    def _compose(self, destination: str, payload: bytes, now: int, *, reply_to: str = "", id: bytes = b"") -> Message:
        chance = self._chance
        id = id or b"".join(chance.randrange(1 << 64).to_bytes(8, "big") for _ in range(2))
        at_us = (now + self.wall_offset_ns) // US
        return Message(id, self.name, destination, at_us, payload=payload, reply_to=reply_to)

    @property
    def _next_send(self) -> int | None:
        return None if self._rounds is None else self._rounds.next_due

    def _send_due(self, now: int) -> None:
        while (due := self._next_send) is not None and due <= now:
            assert self._rounds is not None
            number, order, intended = next(self._rounds)
            node, payload = node_id(number), bytes(self.shared.workload.payload_bytes)
            message = self._compose(node.hex(), payload, now, reply_to=self._answers)
            server = self.shared.workload.home_of(number)
            self._open.sent(message.id, Waiting(number, order, intended, now, server))
            self._to_node(node, message, None, now)

    def _cast(self, now: int) -> None:
        _, due = next(self._casts)
        workload = self.shared.workload
        definer, group = self._chance.randrange(workload.definers), self._chance.randrange(workload.groups)
        is_region = workload.square_km and not definer
        name = f"definer-{definer}/{region_name(group, workload.regions_across) if is_region else group}"
        message = self._compose(name, bytes(workload.payload_bytes), now)
        self._report(Cast(message.id.hex(), definer, group, self.shared.us(due)), now)
        self._appends.append(Append(GROUPCAST, name.encode(), codec.write(Groupcast(message, name))))

    def _settle(self, record: Record) -> None:
        self._progress.settle(record.topic, record.partition, record.position)

    def _traced(
        self, step: str, id: bytes, node: bytes, now: int, *, topic: str = "", record: Record | None = None
    ) -> None:
        """A step of a message from or for a node."""
        offset = self.wall_offset_ns
        self._facts += self.shared.traced(step, id, node, self.name, now, offset, topic=topic, record=record)

    def _report(self, value: Any, now: int) -> None:
        self._facts.append(row(self.shared.us(now), value))


class _Desk:
    """Where messages wait to be handled: one at a time, with a service time, and with pauses."""

    def __init__(self, shared: Shared, number: int) -> None:
        workload = shared.workload
        self._chance = shared.draws.stream("service", number)
        self._service = round(workload.app_service_ms * MILLISECOND)
        self._pauses = shared.draws.pauses(number)
        self._start = shared.windows.measuring
        self._pause = next(self._pauses, None)
        self.queue: deque[tuple[Record, Message]] = deque()
        self._done_at = 0
        """When the first one is handled."""

    def take(self, record: Record, message: Message, now: int) -> None:
        self.queue.append((record, message))
        if len(self.queue) == 1:
            self._begin(now)

    def done(self, now: int) -> Iterator[tuple[Record, Message]]:
        """Those that are handled by now."""
        while self.queue and self._done_at <= now:
            yield self.queue.popleft()
            if self.queue:
                self._begin(max(self._done_at, 0))

    @property
    def next_done(self) -> int | None:
        return self._done_at if self.queue else None

    def forget(self, places: set[tuple[str, int]]) -> None:
        self.queue = deque(one for one in self.queue if (one[0].topic, one[0].partition) not in places)

    def _begin(self, now: int) -> None:
        """The first of the queue."""
        took = exponential(self._chance, self._service) if self._service else 0
        self._done_at = self._after_pauses(now) + took

    def _after_pauses(self, at: int) -> int:
        while self._pause is not None and self._start + self._pause[0] <= at:
            at = max(at, self._start + self._pause[1])
            self._pause = next(self._pauses, None)
        return at


class _Rounds(Iterator[tuple[int, int, int]]):
    """The messages to the nodes that an application serves, as they are due: a node, the order of the message among
    those to it, and its instant."""

    def __init__(self, shared: Shared, number: int) -> None:
        workload = shared.workload
        nodes = range(number, workload.nodes, workload.application_count)
        streams = ((Stream(shared.draws.due(OUTBOUND, node), shared.windows.measuring), node) for node in nodes)
        self._heap = [(stream.next_due or 0, node, stream) for stream, node in streams]
        heapify(self._heap)

    @property
    def next_due(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def __next__(self) -> tuple[int, int, int]:
        due, node, stream = self._heap[0]
        order, _ = next(stream)
        if stream.next_due is None:
            heappop(self._heap)
        else:
            heapreplace(self._heap, (stream.next_due, node, stream))
        return node, order, due
