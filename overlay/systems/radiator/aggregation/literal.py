"""Algorithm 1 as printed: an arrival scans all pending messages of each recipient, N·P evaluations.

The other forms are compared with this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from overlay.systems.radiator.aggregation.algorithm import Algorithm, Recipient
from overlay.systems.radiator.aggregation.emissions import Emission
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Message, Queue, oldest_first
from overlay.systems.radiator.language.aggregability import Aggregability

ToSend = dict[tuple[tuple[Message, ...], int | None], list[int]]
"""By messages, their recipients; also by recipient if recipients share no propagations."""


class Literal(Algorithm):
    """Algorithm 1 with a list of pending messages for each recipient."""

    def __init__(self, function: Aggregability, options: Options, holders: dict[int, int] | None = None) -> None:
        super().__init__(function, options, holders)
        self._pending: dict[int, list[Message]] = {}
        self._queues: dict[int, list[Queue]] = {}
        """What the last scan of each recipient left."""

    def queues(self, place: int) -> list[Queue]:
        return self._queues[place]

    def held(self) -> Iterator[tuple[Sequence[int], Queue]]:
        return (((place,), queue) for place, queues in self._queues.items() for queue in queues)

    def sizes(self) -> Iterator[tuple[int, int]]:
        return ((len(pending), 1) for pending in self._pending.values())

    def _registered(self, recipient: Recipient, now: int) -> None:
        self._pending[recipient.place] = []
        self._queues[recipient.place] = []

    def _removed(self, recipient: Recipient, now: int) -> list[Message]:
        del self._queues[recipient.place]
        dropped = self._pending.pop(recipient.place)
        self._release(dropped)
        return dropped

    def _became(self, recipient: Recipient, now: int) -> None:
        if self._pending[recipient.place]:
            self._changed.setdefault(recipient.place, now)

    def _arrive(self, message: Message, audience: list[int] | None, excluded: int | None) -> list[Emission]:
        to_send: ToSend = {}
        for place in self._places if audience is None else audience:
            if place != excluded:
                self._pending[place].append(message)
                self._hold(message)
                self._propagate(place, to_send)
        return _emissions(to_send)

    def _flush(self, now: int) -> list[Emission]:
        to_send: ToSend = {}
        for place in self._places:
            if self._changed.get(place, now + 1) <= now:
                self._propagate(place, to_send)
            for queue in oldest_first(self._queues[place]):
                deadline = self.options.deadline(queue)
                if deadline is not None and deadline <= now:
                    self._queues[place].remove(queue)
                    self._send(place, tuple(queue.messages), to_send)
        return _emissions(to_send)

    def _first_deadline(self) -> int | None:
        return min(filter(None, map(self.options.deadline, self._all_queues())), default=None)

    def _propagate(self, place: int, to_send: ToSend) -> None:
        emitted, self._queues[place] = self._scan(tuple(self._pending[place]), self._recipients[place])
        self._changed.pop(place, None)
        for messages in emitted:
            self._send(place, messages, to_send)

    def _send(self, place: int, messages: tuple[Message, ...], to_send: ToSend) -> None:
        for message in messages:
            self._pending[place].remove(message)
        self._release(messages)
        to_send.setdefault((messages, place if self.options.is_per_recipient else None), []).append(place)


def _emissions(to_send: ToSend) -> list[Emission]:
    return [Emission(messages, places) for (messages, _), places in to_send.items()]
