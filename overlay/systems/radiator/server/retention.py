"""The aggregator of servers: Algorithm 1 decides what leaves, the aggregation what its recipients receive.

A recipient is known to the algorithm by its ``Entry.place``. C_R is its registration's attributes overlaid by those of
its last context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overlay.systems.radiator.aggregation import emissions
from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.queues import Message
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.context import Attributes, Context, parse_context
from overlay.systems.radiator.language.aggregates import Aggregation
from overlay.systems.radiator.server.aggregator import Emission
from overlay.systems.radiator.tracing import Tracer


class Retention:
    """Retained messages. Server and algorithm must be given equal times: deadlines are handled before other changes."""

    def __init__(self, algorithm: Algorithm, aggregation: Aggregation, tracer: Tracer | None = None) -> None:
        self.algorithm = algorithm
        self.aggregation = aggregation
        self.tracer = tracer or Tracer(0)
        self._entries: dict[int, Entry] = {}
        """The reachable clients, by place."""

    @property
    def retained(self) -> int:
        return self.algorithm.retained

    def is_retained(self, number: int) -> bool:
        return self.algorithm.is_retained(number)

    @property
    def due(self) -> int:
        return self.algorithm.due

    def read(self, body: bytes) -> Context:
        return parse_context(body)

    def accept(self, number: int, sender: Entry, context: Context, now: int) -> list[Emission]:
        message = Message(number, context, now)
        emitted = self.algorithm.arrive(message, now, sender.place, attributes_of(sender))
        if self.tracer.samples(number):
            self.tracer.join(number, self.algorithm.joined(message, sender.place), now)
        return self._emissions(emitted)

    def change(self, entry: Entry, now: int) -> None:
        if entry.place in self._entries:
            emitted = self.algorithm.change(entry.place, attributes_of(entry), now)
        else:
            self._entries[entry.place] = entry
            emitted = self.algorithm.register(entry.place, entry.key[1], attributes_of(entry), now)
        assert not emitted, "the server handles earlier deadlines first"

    def drop(self, entry: Entry, now: int) -> Sequence[int]:
        if self._entries.pop(entry.place, None) is None:
            return ()
        emitted, dropped = self.algorithm.remove(entry.place, now)
        assert not emitted, "the server handles earlier deadlines first"
        return [message.number for message in dropped]

    def halve(self, emission: Emission) -> tuple[Emission, Emission]:
        half = len(emission.messages) // 2
        parts = (slice(half), slice(half, None))
        first, second = (self._emission(emission.originals[part], emission.recipients) for part in parts)
        return first, second

    def handle_timer(self, now: int) -> list[Emission]:
        return self._emissions(self.algorithm.handle_timer(now))

    def next_timer(self) -> int | None:
        return self.algorithm.next_timer()

    def check_invariants(self) -> None:
        assert sorted(self._entries) == list(self.algorithm.places)
        assert all(entry.is_reachable and entry.place == place for place, entry in self._entries.items())
        self.algorithm.check_invariants()

    def _emissions(self, emitted: Iterable[emissions.Emission]) -> list[Emission]:
        entries = self._entries
        return [self._emission(messages, [entries[place] for place in places]) for messages, places in emitted]

    def _emission(self, messages: Sequence[Message], recipients: Sequence[Entry]) -> Emission:
        """Recipients of one emission may differ only if the aggregation does not read them."""
        first = recipients[0]
        contexts = [message.context for message in messages]
        body = self.aggregation.body(contexts, attributes_of(first), first.key[1])
        return Emission(tuple(message.number for message in messages), body, recipients, tuple(messages))


def attributes_of(entry: Entry) -> Attributes:
    """C_R."""
    context = entry.last_context
    return entry.attributes if context is None else {**entry.attributes, **context.attributes}
