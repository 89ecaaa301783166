"""Questions to other brokers (26, 28, 30): sent, repeated until answered, and given up after the last attempt.

Counterparts: ``lookups``, ``putting``, ``upkeep`` and ``handover`` ask, each with a callback for the end. An answer is
accepted only from the address that was asked. A 27 is matched by the question's timestamp; a 29 by its key, because its
timestamp is that of the entry; a 31 by both. Unsolicited answers are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.extensions import (
    ClosestBrokers,
    DataFound,
    DataStored,
    FindBrokers,
    FindData,
    StoreData,
)
from overlay.systems.context_broker.wire.messages import Nack
from overlay.systems.context_broker.wire.table import CODES, UNKNOWN

Asked = FindBrokers | FindData | StoreData
Answer = ClosestBrokers | DataFound | DataStored | Nack
Ended = Callable[[Answer | None, int], None]
"""Called with the answer (``None`` if there was none) and ``now``."""

TRIES = 2

_ASKED = (FindBrokers, FindData, StoreData)


class Question:
    __slots__ = ("code", "data", "due", "ended", "names", "to", "tries")

    def __init__(self, message: Asked, to: Address, names: tuple[Hashable, ...], ended: Ended, tries: int) -> None:
        self.to = to
        self.code = CODES[type(message)]
        self.data = encode(message)
        self.names = names
        """The keys by which its answers are matched."""
        self.tries = tries
        self.ended = ended
        self.due = 0


class Questions:
    """At most ``capacity`` questions at a time. Each is sent every ``gap_ns``, at most ``tries`` times."""

    def __init__(self, station: Station, capacity: int, gap_ns: int) -> None:
        self._station = station
        self._capacity = capacity
        self._gap_ns = gap_ns
        self._open: dict[Question, None] = {}
        self._by_name: dict[Hashable, list[Question]] = {}
        self._dues: list[tuple[int, int, Question]] = []
        self._count = 0
        self._last_stamp = 0

    def __len__(self) -> int:
        return len(self._open)

    def stamp(self, now: int) -> int:
        """The Unix time in milliseconds, or one more than the last, so that each lookup has a unique timestamp."""
        self._last_stamp = max(self._station.wall_ms(now), self._last_stamp + 1)
        return self._last_stamp

    def ask(self, message: Asked, to: Address, now: int, ended: Ended, *, counter: str, tries: int = TRIES) -> bool:
        """Ask. If too many questions are open, returns ``False`` and never calls ``ended``. ``counter`` is incremented
        once."""
        if len(self._open) >= self._capacity:
            self._station.report_limit("questions", now)
            return False
        names: tuple[Hashable, ...] = ((to, CODES[type(message)], message.timestamp),)
        if isinstance(message, FindData):
            names += ((to, message.key),)
        elif isinstance(message, StoreData):
            names += ((to, message.timestamp, message.provider_id, message.key),)
        question = Question(message, to, names, ended, tries)
        self._station.counters[counter] += 1
        self._open[question] = None
        for name in names:
            self._by_name.setdefault(name, []).append(question)
        self._send(question, now)
        return True

    # ---- answers: ``False`` if unsolicited

    def accept_brokers(self, answer: ClosestBrokers, source: Address, now: int) -> bool:
        ended = self._end((source, CODES[FindBrokers], answer.timestamp), answer, now)
        return ended or self._end((source, CODES[FindData], answer.timestamp), answer, now)

    def accept_data(self, answer: DataFound, source: Address, now: int) -> bool:
        return self._end((source, answer.key), answer, now)

    def accept_stored(self, answer: DataStored, source: Address, now: int) -> bool:
        key = answer.entity_type, answer.entity_id, answer.scope
        return self._end((source, answer.timestamp, answer.provider_id, key), answer, now)

    def accept_nack(self, nack: Nack, source: Address, now: int) -> bool:
        """A NACK from a broker that does not know the codes, does not serve us, has left, or has no space.

        A NACK does not identify an entry among several with the same timestamp; the first asked counts as refused.
        """
        if nack.operation != UNKNOWN or nack.hops:
            return False
        return any(self._end((source, CODES[kind], nack.timestamp), nack, now) for kind in _ASKED)

    # ---- time

    def handle_timer(self, now: int) -> None:
        while self._dues and self._dues[0][0] <= now:
            due, _, question = heappop(self._dues)
            if question not in self._open or question.due != due:
                continue
            if question.tries:
                self._send(question, now)
            else:
                self._remove(question)
                question.ended(None, now)

    def next_timer(self) -> int | None:
        while self._dues and self._dues[0][2] not in self._open:
            heappop(self._dues)
        return self._dues[0][0] if self._dues else None

    # ---- parts of the above

    def _send(self, question: Question, now: int) -> None:
        question.tries -= 1
        question.due = now + self._gap_ns
        self._count += 1
        heappush(self._dues, (question.due, self._count, question))
        self._station.send(question.code, question.data, question.to, now)

    def _end(self, name: Hashable, answer: Answer, now: int) -> bool:
        questions = self._by_name.get(name)
        if not questions:
            return False
        question = questions[0]
        self._remove(question)
        question.ended(answer, now)
        return True

    def _remove(self, question: Question) -> None:
        del self._open[question]
        for name in question.names:
            questions = self._by_name[name]
            questions.remove(question)
            if not questions:
                del self._by_name[name]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the indices disagree, or a question would wait for ever."""
        assert len(self._open) <= self._capacity
        assert sum(map(len, self._by_name.values())) == sum(len(question.names) for question in self._open)
        assert {id(item[2]) for item in self._dues if item[0] == item[2].due} >= {
            id(question) for question in self._open
        }
