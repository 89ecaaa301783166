"""Every answer has its question: it came from the one who is answered, and is answered once at most.

And no request is sent twice to the same neighbour while it waits for an answer.

A datagram counts as it arrived, so all of this holds on links that change bytes, too.
"""

from collections import Counter, defaultdict

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.wire.codec import code_of
from overlay.systems.context_broker.wire.discovery_messages import BrokersRequest, BrokersResponse
from overlay.systems.context_broker.wire.extensions import (
    ClosestBrokers,
    DataFound,
    DataStored,
    FindData,
    HopAck,
    HopData,
    IndirectPing,
    IndirectPingResponse,
    Lookahead,
    StoreData,
)
from overlay.systems.context_broker.wire.messages import (
    Ack,
    ContextRequest,
    ContextResponse,
    Nack,
    NeighborsRequest,
    NeighborsResponse,
    Ping,
    PingResponse,
    StatsRequest,
    StatsResponse,
    Status,
)
from overlay.systems.context_broker.wire.table import CODES, OPERATIONS, AnyMessage
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.swarm.reading import read, unwrapped
from tests.swarm.watcher import Readers, Watcher

REQUEST = "ContextRequest"
ANSWERS = frozenset({4, 5, 6, 9, 19, 21, 23, 25, 27, 29, 31, 36, 39})
"""Codes of what is never answered, however malformed (wire-protocol section 3, and ``docs/extensions.md``)."""
PAIRS = {
    PingResponse: Ping,
    NeighborsResponse: NeighborsRequest,
    StatsResponse: StatsRequest,
    BrokersResponse: BrokersRequest,
}


class Answers(Watcher):
    def __init__(self, overlay: Overlay, readers: Readers | None = None, *, is_honest: bool = True) -> None:
        super().__init__(overlay, readers)
        self._questions: Counter[tuple] = Counter()
        self._answers: Counter[tuple] = Counter()
        self._wrapped: set[tuple] = set()
        self._taken: set[tuple] = set()
        """What was wrapped and arrived: a second copy of it is no second question."""
        self._waiting: dict[tuple, dict[tuple, int]] = defaultdict(dict)
        """By broker and path: until when it waits for which neighbour's answer about what."""
        self._is_honest = is_honest
        self._patience = overlay.config.pending_deadline_ms * MILLISECOND

    # ---- questions

    def heard(self, now: int, data: bytes, source: Address, broker: Address) -> None:
        message, pair = read(data), (broker, source)
        if isinstance(message, HopData):
            self._questions[*pair, "hop", message.sequence] += 1
            self._questions[*pair, "stamp", message.timestamp] += 1
            if (self.actor(broker), source, message.sequence) in self._taken:
                return
            if self._is_honest:  # else what is in it may be damaged, and the next copy sound
                self._taken.add((self.actor(broker), source, message.sequence))
            message = unwrapped(message)
        if isinstance(message, ContextResponse):
            self._waiting.pop((self.actor(broker), message.hops), None)
        elif isinstance(message, Nack):
            waiting = self._waiting[self.actor(broker), message.hops]
            for query in [query for query in waiting if query[:2] == (source, message.timestamp)]:
                del waiting[query]
        if message is None:
            if code_of(data) not in ANSWERS:
                self._questions[*pair, "unreadable"] += 1
        elif CODES[type(message)] not in ANSWERS:
            self._note_question(message, pair)

    def _note_question(self, message: AnyMessage, pair: tuple[Address, Address]) -> None:
        questions = self._questions
        questions[*pair, type(message)] += 1
        questions[*pair, "stamp", message.timestamp] += 1
        questions[*pair, OPERATIONS.get(CODES[type(message)])] += 1
        if isinstance(message, ContextRequest | Lookahead):
            questions[*pair, "asked", message.hops] += 1
            questions[*pair, "about", message.hops, message.key] += 1
            questions[*pair, "named", message.hops, message.timestamp] += 1
            if type(message) is not ContextRequest:
                questions[*pair, REQUEST] += 1
        elif isinstance(message, IndirectPing):
            questions[*pair, "probe", message.broker, message.timestamp] += 1
        elif isinstance(message, FindData):
            questions[*pair, "find", message.key] += 1
        elif isinstance(message, StoreData):
            questions[*pair, "store", message.key, message.provider_id, message.timestamp] += 1

    # ---- answers

    def said(self, now: int, data: bytes, broker: Address, to: Address) -> None:
        message, pair = read(data), (broker, to)
        if isinstance(message, HopData):
            if (*pair, message.sequence) in self._wrapped:  # sent again as it was
                return
            self._wrapped |= {(*pair, message.sequence), (*pair, message.message)}
            message = unwrapped(message)
        elif (*pair, data) in self._wrapped:  # sent again as it is, to one that seems not to know what wrapped it
            return
        assert message is not None, f"{broker} said what cannot be read: {data[:100]!r}"
        if type(message) is ContextRequest:
            waiting = self._waiting[self.actor(broker), message.hops]
            query = to, message.timestamp, message.key
            until = waiting.get(query, now)
            assert until <= now, f"{broker} sent {to} once more what it waits for: {message}"
            waiting[query] = now + self._patience
        elif isinstance(message, ContextResponse):
            was_asked = self._questions[*pair, "about", message.hops, message.key]
            assert was_asked, f"{broker} answered {to} unasked: {data[:200]!r}"
            self._end(pair, message.hops)
        elif isinstance(message, Nack):
            self._refuse(message, pair)
        elif isinstance(message, Ack):
            self._once(pair, message.operation, (message.status, message.operation))
        elif isinstance(message, HopAck):
            self._once(pair, ("hop", message.sequence))
        elif isinstance(message, IndirectPingResponse):
            self._once(pair, ("probe", message.broker, message.timestamp))
        elif isinstance(message, ClosestBrokers):
            self._once(pair, ("stamp", message.timestamp))
        elif isinstance(message, DataFound):
            self._once(pair, ("find", message.key))
        elif isinstance(message, DataStored):
            key = message.entity_type, message.entity_id, message.scope
            self._once(pair, ("store", key, message.provider_id, message.timestamp))
        elif type(message) in PAIRS:
            self._once(pair, PAIRS[type(message)])

    def _refuse(self, nack: Nack, pair: tuple[Address, Address]) -> None:
        if nack.operation == REQUEST and nack.hops:
            assert self._questions[*pair, "named", nack.hops, nack.timestamp], f"{pair} refused unasked: {nack}"
        elif not self._questions[*pair, "stamp", nack.timestamp]:
            assert nack.status == Status.BAD_REQUEST, f"{pair} refused unasked: {nack}"
            self._once(pair, ("unreadable",))
        if nack.operation == REQUEST and nack.status != Status.BAD_REQUEST:
            self._end(pair, nack.hops)

    def _end(self, pair: tuple[Address, Address], hops: tuple[Address, ...]) -> None:
        """A request has its terminal answer."""
        self._once(pair, ("asked", hops))

    def _once(self, pair: tuple[Address, Address], question: object, answer: object = None) -> None:
        names = question if isinstance(question, tuple) else (question,)
        answered = (*pair, answer or question)
        self._answers[answered] += 1
        asked = self._questions[*pair, *names]
        assert self._answers[answered] <= asked, f"{pair[0]} answered {pair[1]} once too often: {answer or question}"
