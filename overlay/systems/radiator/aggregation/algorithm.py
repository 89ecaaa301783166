"""The interface of Algorithm 1, and what its forms have in common.

A recipient is known by its *place* in the order of registration, an integer that is never given to another one. The
table of clients registers recipients when they become reachable, and removes them when they no longer are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from overlay.systems.radiator.aggregation.emissions import Emission
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Message, Queue, pending_of
from overlay.systems.radiator.context import Attributes
from overlay.systems.radiator.language.aggregability import Aggregability
from overlay.systems.radiator.language.thresholds import Threshold

AUDIENCE_MOVES_EVERY = 100
"""Messages after which ``audience`` moves on in the table."""


class Recipient:
    """A reachable client: its id, C_R, and what the aggregability function reads of them."""

    __slots__ = ("attributes", "id", "key", "place")

    def __init__(self, place: int, recipient_id: str, attributes: Attributes, key: bytes) -> None:
        self.place = place
        self.id = recipient_id
        self.attributes = attributes
        self.key = key


class Algorithm(ABC):
    """Algorithm 1. Subclasses have the queues.

    Whatever happens at ``now``, deadlines before ``now`` are handled first, and those at ``now`` by ``handle_timer``.
    """

    def __init__(self, function: Aggregability, options: Options, holders: dict[int, int] | None = None) -> None:
        self.function = function
        self.options = options
        self.due = 0
        """Recipients of the last message."""
        self._evaluations = 0
        self._recipients: dict[int, Recipient] = {}
        self._places: list[int] = []
        """All, in order."""
        self._changed: dict[int, int] = {}
        """By place, since when C_R has changed without a scan. Only recipients with pending messages."""
        self._owns_holders = holders is None
        self._holders = {} if holders is None else holders
        """By number of a message, how many queues hold it."""

    # ---- events

    def register(self, place: int, recipient_id: str, attributes: Attributes, now: int) -> list[Emission]:
        """A recipient without pending messages."""
        emissions = self._before(now)
        recipient = Recipient(place, recipient_id, attributes, self.function.class_key(attributes, recipient_id))
        self._recipients[place] = recipient
        insort(self._places, place)
        self._registered(recipient, now)
        return emissions

    def remove(self, place: int, now: int) -> tuple[list[Emission], list[Message]]:
        """A recipient left or became unreachable. The messages are those that it no longer gets, oldest first."""
        emissions = self._before(now)
        dropped = self._removed(self._recipients[place], now)
        del self._recipients[place], self._places[bisect_left(self._places, place)]
        self._changed.pop(place, None)
        return emissions, dropped

    def change(self, place: int, attributes: Attributes, now: int) -> list[Emission]:
        """C_R changed by a registration."""
        emissions = self._before(now)
        self._change(self._recipients[place], attributes, now)
        return emissions

    def arrive(
        self, message: Message, now: int, sender: int | None = None, attributes: Attributes | None = None
    ) -> list[Emission]:
        """A message was accepted. ``attributes`` are the sender's new C_R, which counts for this message already."""
        emissions = self._before(now)
        if sender is not None and attributes is not None:
            self._change(self._recipients[sender], attributes, now)
        audience, excluded = self._audience(message), None if self.options.echo else sender
        places = self._places if audience is None else audience
        self.due = len(places) - (excluded is not None and (audience is None or excluded in audience))
        return emissions + self._arrive(message, audience, excluded)

    def joined(self, message: Message, sender: int | None = None) -> dict[Threshold, list[str]]:
        """The queues that a message joins on arrival, with the ids of its recipients. Nothing is counted."""
        results: dict[bytes, Threshold] = {}
        found: dict[Threshold, list[str]] = {}
        errors, context = self.function.errors, message.context
        audience = self._audience(message)
        for place in self._places if audience is None else audience:
            one = self._recipients[place]
            if place != sender or self.options.echo:
                if one.key not in results:
                    asked = context.attributes, context.people, one.attributes, one.id
                    results[one.key] = self.function.evaluate(*asked)
                found.setdefault(results[one.key], []).append(one.id)
        self.function.errors = errors
        return found

    def handle_timer(self, now: int) -> list[Emission]:
        """Emit queues with deadlines until ``now``, in order of registration."""
        first = self.next_timer()
        return self._flush(now) if first is not None and first <= now else []

    # ---- state

    @property
    def evaluations(self) -> int:
        """Calls of the aggregability function."""
        return self._evaluations

    @property
    def places(self) -> Sequence[int]:
        """Of all recipients, in order."""
        return self._places

    @property
    def retained(self) -> int:
        """Messages that are pending for at least one recipient."""
        return len(self._holders)

    def is_retained(self, number: int) -> bool:
        """Whether the message of this number is."""
        return number in self._holders

    def next_timer(self) -> int | None:
        """When ``handle_timer`` is due. A recipient whose C_R changed without a scan is due at once."""
        first = self._first_deadline()
        if self._changed and self.options.has_timers:
            changed = next(iter(self._changed.values()))
            return changed if first is None else min(first, changed)
        return first

    def pending(self, place: int) -> list[Message]:
        """Messages retained for a recipient, oldest first."""
        return pending_of(self.queues(place))

    @abstractmethod
    def queues(self, place: int) -> list[Queue]:
        """The queues of a recipient as of its last scan; to read only."""

    @abstractmethod
    def held(self) -> Iterator[tuple[Sequence[int], Queue]]:
        """Each queue once, with the places of the recipients that share it."""

    @abstractmethod
    def sizes(self) -> Iterator[tuple[int, int]]:
        """``(pending messages, recipients with that many)``; a number may come up several times."""

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` unless queues, deadlines and counts fit together."""
        assert self._places == sorted(self._recipients), "places are the recipients, in order"
        for recipient in self._recipients.values():
            self._check_recipient(recipient)
        deadlines = filter(None, map(self.options.deadline, self._all_queues()))
        assert self._first_deadline() == min(deadlines, default=None), "the first deadline is the earliest"
        held = Counter(message.number for queue in self._all_queues() for message in queue.messages)
        assert not self._owns_holders or held == self._holders, "a message is retained as long as a queue holds it"

    def _check_recipient(self, recipient: Recipient) -> None:
        queues = self.queues(recipient.place)
        messages = [message.number for queue in queues for message in queue.messages]
        assert len(messages) == len(set(messages)), "queues partition the pending messages"
        assert len({queue.threshold for queue in queues}) == len(queues), "a threshold has one queue"
        for queue in queues:
            assert queue.messages and not queue.is_satisfied, "a satisfied queue has left"
            numbers = [message.number for message in queue.messages]
            assert numbers == sorted(numbers), "messages of a queue are in order"
        if not self._is_changed(recipient.place):
            errors, evaluations = self.function.errors, self._evaluations
            for queue in queues:
                for message in queue.messages:
                    assert self._result(message, recipient) == queue.threshold, (
                        "a message is in the queue of its result"
                    )
            self.function.errors, self._evaluations = errors, evaluations

    # ---- what forms do

    @abstractmethod
    def _registered(self, recipient: Recipient, now: int) -> None: ...
    @abstractmethod
    def _removed(self, recipient: Recipient, now: int) -> list[Message]:
        """Returns its pending messages, oldest first."""

    @abstractmethod
    def _became(self, recipient: Recipient, now: int) -> None:
        """What the function reads of ``recipient`` has changed."""

    @abstractmethod
    def _arrive(self, message: Message, audience: list[int] | None, excluded: int | None) -> list[Emission]:
        """``audience``: the places that it goes to, in order; ``None``: all."""

    @abstractmethod
    def _flush(self, now: int) -> list[Emission]: ...
    @abstractmethod
    def _first_deadline(self) -> int | None: ...
    def _all_queues(self) -> Iterable[Queue]:
        return (queue for _, queue in self.held())

    def _is_changed(self, place: int) -> bool:
        """Whether C_R of this recipient has changed without a scan."""
        return place in self._changed

    # ---- common steps

    def _before(self, now: int) -> list[Emission]:
        return self.handle_timer(now - 1)

    def _change(self, recipient: Recipient, attributes: Attributes, now: int) -> None:
        recipient.attributes = attributes
        key = self.function.class_key(attributes, recipient.id)
        if key != recipient.key:
            recipient.key = key
            self._became(recipient, now)

    def _audience(self, message: Message) -> list[int] | None:
        size, places = self.options.audience, self._places
        if not 0 < size < len(places):
            return None
        start = message.number // AUDIENCE_MOVES_EVERY * size % len(places)
        return sorted((places + places)[start : start + size])

    def _result(self, message: Message, recipient: Recipient) -> Threshold:
        self._evaluations += 1
        context = message.context
        return self.function.evaluate(context.attributes, context.people, recipient.attributes, recipient.id)

    def _scan(self, pending: Iterable[Message], recipient: Recipient) -> tuple[list[tuple[Message, ...]], list[Queue]]:
        """Lines 5 to 26 of Algorithm 1: what leaves, in order, and the queues that remain."""
        queues: dict[Threshold, Queue] = {}
        emitted = []
        for message in pending:
            result = self._result(message, recipient)
            queue = queues.setdefault(result, Queue(result))
            queue.append(message)
            if queue.is_satisfied:
                emitted.append(tuple(queue.messages))
                del queues[result]
        return emitted, list(queues.values())

    def _hold(self, message: Message) -> None:
        self._holders[message.number] = self._holders.get(message.number, 0) + 1

    def _release(self, messages: Iterable[Message]) -> None:
        for message in messages:
            left = self._holders[message.number] - 1
            if left:
                self._holders[message.number] = left
            else:
                del self._holders[message.number]
