"""An application of a workload: it answers messages of nodes, and sends messages to nodes, over the log. A client of
MQTT is answered with its own message.

It handles one message at a time, with service times and pauses as the workload has them. A record of a message is
settled when its answer is durable.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.core.timers import earliest
from overlay.journal.facts import ClientFact
from overlay.log.node import Subscription
from overlay.log.topics import Record
from overlay.systems.contextnet.applications import application
from overlay.systems.contextnet.applications.application import GROUP, Heard
from overlay.systems.contextnet.load.draws import exponential, region_name
from overlay.systems.contextnet.load.open import Open, Stream, Waiting
from overlay.systems.contextnet.load.plans import ClientPlan
from overlay.systems.contextnet.load.shared import Shared
from overlay.systems.contextnet.names import APPLICATION, answer_id, application_name, node_id
from overlay.systems.contextnet.records.names import INBOUND, answers_topic
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.routing.directory import Route
from overlay.systems.contextnet.routing.replies import mqtt_client
from overlay.systems.contextnet.rows import Cast, Repeated, row
from overlay.systems.contextnet.rows import Held as HeldRow
from overlay.systems.contextnet.workload import OUTBOUND


class Application(application.Application):
    peer = None

    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        self.number, self.shared = plan.number, shared
        workload, draws, name = shared.workload, shared.draws, application_name(plan.number)
        self._answers = answers_topic(name)
        asking = (INBOUND, *shared.settings.topics_of_mqtt)
        heard = (Subscription(self._answers, name), *(Subscription(topic, GROUP) for topic in asking))
        chance = draws.stream(APPLICATION, plan.number)
        super().__init__(name, shared.settings, chance, shared.wall_offset_ns, heard)
        self._received: set[bytes] = set()
        """Ids of all messages that were handed over."""
        self._open = Open(APPLICATION, plan.number, shared.windows, shared.tally)
        self._rounds = _Rounds(shared, plan.number) if workload.is_outbound else None
        self._casts = Stream(draws.casts(plan.number), shared.windows.measuring)
        self._desk = _Desk(shared, plan.number, self.waiting)
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
        return not len(self._open) and not self.waiting and self._next_send is None

    # ---- for drivers of clients

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        return False  # no sender knows its address

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        return ()

    def lanes_to_close(self) -> Sequence[int]:
        return ()

    def handle_timer(self, now: int) -> None:
        if self.is_ready:
            self._handle_done(now)
            self._send_due(now)
        while (due := self._casts.next_due) is not None and due <= now:
            self._cast(now)

    def next_timer(self) -> int | None:
        to_nodes = (self._desk.next_done, self._next_send) if self.is_ready else ()
        return earliest(*to_nodes, self._casts.next_due)

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, []
        return [*facts, *self._open.facts()]

    def abandon(self, now: int) -> None:
        if not self._is_over:
            self._is_over = True
            self._open.abandon(now)
            for one in self.waiting:
                self._report(HeldRow(one.message.id.hex()), now)

    # ---- what it does

    def hear(self, heard: Heard) -> None:
        if heard.topic in (self._answers, INBOUND):  # both have nodes as their keys
            self._traced("read", heard.message.id, heard.record.key, record=heard.record)
        if heard.topic == self._answers:
            self._open.answered(heard.message.id, self.now)
            self.settle(heard.record)
        else:
            super().hear(heard)
            self._desk.came(self.now)
            if self.is_ready:
                self._handle_done(self.now)

    def _handle_done(self, now: int) -> None:
        for heard in self._desk.done(now):
            self._handle(heard, now)

    def _handle(self, heard: Heard, now: int) -> None:
        self.shared.tally.counters["handled"] += 1
        if not self.take_up(heard, now):
            return
        message = heard.message
        if message.id in self._received:
            self._report(Repeated(message.id.hex(), self.shared.us(now)), now)
        self._received.add(message.id)
        client, id = mqtt_client(message.reply_to), answer_id(message.id)
        if client is not None:
            answer = self.compose(message.reply_to, message.payload, now, id=id)
            self.tell(client, answer, lambda: self.settle(heard.record))
        else:
            answer = self.compose(message.reply_to, self._payload, now, id=id)
            self.send(bytes.fromhex(message.reply_to), answer, lambda: self.settle(heard.record))

    @property
    def _payload(self) -> bytes:
        return bytes(self.shared.workload.payload_bytes)

    def send(self, node: bytes, message: Message, then: Callable[[], None] | None = None) -> Route:
        route = super().send(node, message, then)
        self._traced("unsent" if route.is_absent else "sent", message.id, node, topic=route.topic)
        return route

    @property
    def _next_send(self) -> int | None:
        return None if self._rounds is None else self._rounds.next_due

    def _send_due(self, now: int) -> None:
        while (due := self._next_send) is not None and due <= now:
            assert self._rounds is not None
            number, order, intended = next(self._rounds)
            node = node_id(number)
            message = self.compose(node.hex(), self._payload, now, reply_to=self._answers)
            server = self.shared.workload.home_of(number)
            self._open.sent(message.id, Waiting(number, order, intended, now, server))
            self.send(node, message)

    def _cast(self, now: int) -> None:
        _, due = next(self._casts)
        workload = self.shared.workload
        definer, group = self._chance.randrange(workload.definers), self._chance.randrange(workload.groups)
        is_region = workload.square_km and not definer
        name = f"definer-{definer}/{region_name(group, workload.regions_across) if is_region else group}"
        message = self.compose(name, self._payload, now)
        self._report(Cast(message.id.hex(), definer, group, self.shared.us(due)), now)
        self.cast(message)

    def _traced(self, step: str, id: bytes, node: bytes, *, topic: str = "", record: Record | None = None) -> None:
        """A step of a message from or for a node, now."""
        offset = self.wall_offset_ns
        self._facts += self.shared.traced(step, id, node, self.name, self.now, offset, topic=topic, record=record)

    def _report(self, value: Any, now: int) -> None:
        self._facts.append(row(self.shared.us(now), value))


class _Desk:
    """Where messages wait to be handled: one at a time, with a service time, and with pauses."""

    def __init__(self, shared: Shared, number: int, queue: deque[Heard]) -> None:
        workload = shared.workload
        self._chance = shared.draws.stream("service", number)
        self._service = round(workload.app_service_ms * MILLISECOND)
        self._pauses = shared.draws.pauses(number)
        self._start = shared.windows.measuring
        self._pause = next(self._pauses, None)
        self.queue = queue
        self._done_at = 0
        """When the first one is handled."""

    def came(self, now: int) -> None:
        """One more is in the queue."""
        if len(self.queue) == 1:
            self._begin(now)

    def done(self, now: int) -> Iterator[Heard]:
        """Those that are handled by now."""
        while self.queue and self._done_at <= now:
            yield self.queue.popleft()
            if self.queue:
                self._begin(max(self._done_at, 0))

    @property
    def next_done(self) -> int | None:
        return self._done_at if self.queue else None

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
