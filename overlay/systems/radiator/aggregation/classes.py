"""Algorithm 1 indexed: an arrival is evaluated once for each class of recipients, and changes one queue of each class.

What a scan leaves satisfies no threshold, and a threshold depends on its queue alone. So without a change of C_R, only
the queue that receives the message can begin to satisfy it. A recipient whose C_R changed is scanned as in the literal
form, once.

A *class* has recipients with equal values of what the aggregability function reads of them, and equal queues. A
recipient whose values change leaves it with copies of the queues; so do recipients that a message is not for. Classes
without messages and with equal values become one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

from overlay.systems.radiator.aggregation.algorithm import Algorithm, Recipient
from overlay.systems.radiator.aggregation.emissions import Emission, propagations
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Deadlines, Message, Queue, oldest_first, pending_of
from overlay.systems.radiator.language.aggregability import Aggregability
from overlay.systems.radiator.language.thresholds import Threshold


class _Class:
    """Recipients that share queues."""

    __slots__ = ("_recipients", "key", "places", "queues", "sample")

    def __init__(self, key: bytes, places: list[int], sample: Recipient) -> None:
        self.key = key
        self.places = places
        """In order."""
        self.sample = sample
        """One of its recipients, for evaluations."""
        self.queues: dict[Threshold, Queue] = {}
        self._recipients: tuple[int, ...] | None = None

    @property
    def recipients(self) -> tuple[int, ...]:
        """``places``, copied once for all propagations until they change."""
        if self._recipients is None:
            self._recipients = tuple(self.places)
        return self._recipients

    def set_places(self, places: list[int], sample: Recipient) -> None:
        self.places = places
        self.sample = sample
        self._recipients = None


class Classes(Algorithm):
    """Algorithm 1 by classes."""

    def __init__(self, function: Aggregability, options: Options, holders: dict[int, int] | None = None) -> None:
        super().__init__(function, options, holders)
        self._classes: dict[_Class, None] = {}
        self._class_of: dict[int, _Class] = {}
        self._empty: dict[bytes, _Class] = {}
        """By key, the class without messages."""
        self._deadlines = Deadlines[_Class]()

    def queues(self, place: int) -> list[Queue]:
        return list(self._class_of[place].queues.values())

    def held(self) -> Iterator[tuple[Sequence[int], Queue]]:
        return ((one.places, queue) for one in self._classes for queue in one.queues.values())

    def sizes(self) -> Iterator[tuple[int, int]]:
        for one in self._classes:
            yield sum(len(queue.messages) for queue in one.queues.values()), len(one.places)

    @property
    def classes(self) -> int:
        """How many there are."""
        return len(self._classes)

    def check_invariants(self) -> None:
        super().check_invariants()
        assert sorted(place for one in self._classes for place in one.places) == self._places
        for one in self._classes:
            assert one.places == sorted(one.places) and one.recipients == tuple(one.places)
            assert one.sample is self._recipients[one.sample.place] and one.sample.place in one.places
            assert all(self._class_of[place] is one for place in one.places)
            assert {self._key(self._recipients[place]) for place in one.places} == {one.key}
            assert len(one.places) == 1 or not any(place in self._changed for place in one.places)
            assert all(queue.threshold == threshold for threshold, queue in one.queues.items())
            assert (self._empty.get(one.key) is one) == (not one.queues), "equal classes without messages are one"
        assert all(one in self._classes for one in self._empty.values())

    def _key(self, recipient: Recipient) -> bytes:
        return recipient.key

    # ---- recipients

    def _registered(self, recipient: Recipient, now: int) -> None:
        one = _Class(self._key(recipient), [recipient.place], recipient)
        self._classes[one] = None
        self._class_of[recipient.place] = one
        self._settle(one)

    def _removed(self, recipient: Recipient, now: int) -> list[Message]:
        alone = self._split([recipient.place])
        dropped = pending_of(alone.queues.values())
        self._release(dropped)
        self._take_queues(alone)
        self._unlist(alone)
        del self._classes[alone], self._class_of[recipient.place]
        return dropped

    def _became(self, recipient: Recipient, now: int) -> None:
        alone = self._split([recipient.place])
        self._unlist(alone)
        alone.key = self._key(recipient)
        if alone.queues:
            self._changed.setdefault(recipient.place, now)
        else:
            self._settle(alone)

    def _split(self, places: list[int]) -> _Class:
        """A class of these members of one class, with copies of its queues. ``_settle`` it afterwards."""
        one = self._class_of[places[0]]
        if len(places) == len(one.places):
            return one
        part = _Class(one.key, places, self._recipients[places[0]])
        self._classes[part] = None
        self._class_of.update(dict.fromkeys(places, part))
        remaining = _without(one.places, places)
        one.set_places(remaining, self._recipients[remaining[0]])
        for queue in one.queues.values():
            for message in queue.messages:
                self._hold(message)
            self._add(part, queue.copy())
        return part

    def _settle(self, one: _Class) -> None:
        """Merge a class without messages with the one of equal values."""
        if one.queues:
            return
        other = self._empty.setdefault(one.key, one)
        if other is one:
            return
        small, large = sorted((one, other), key=lambda candidate: len(candidate.places))
        self._empty[one.key] = large
        del self._classes[small]
        self._class_of.update(dict.fromkeys(small.places, large))
        if len(small.places) == 1:
            insort(large.places, small.places[0])
            large.set_places(large.places, large.sample)
        else:
            large.set_places(sorted(large.places + small.places), large.sample)

    def _unlist(self, one: _Class) -> None:
        """``one`` is no longer the class without messages of its key, if it was."""
        if self._empty.get(one.key) is one:
            del self._empty[one.key]

    # ---- messages

    def _arrive(self, message: Message, audience: list[int] | None, excluded: int | None) -> list[Emission]:
        receiving = self._receiving(audience, excluded)
        emitted: list[Emission] = []
        for one in receiving:
            if self._changed and one.sample.place in self._changed:
                self._hold(message)
                emitted += self._rescan(one, [message])
            else:
                self._append(one, message, emitted)
        for one in receiving:
            self._settle(one)
        if excluded is not None:
            self._settle(self._class_of[excluded])
        return propagations(emitted, is_per_recipient=self.options.is_per_recipient)

    def _receiving(self, audience: list[int] | None, excluded: int | None) -> list[_Class]:
        """The classes that a message is for, after those of which only a part receives it have been split."""
        if audience is None:
            if excluded is None:
                return list(self._classes)
            alone = self._split([excluded])
            return [one for one in self._classes if one is not alone]
        parts: dict[_Class, list[int]] = {}
        for place in audience:
            if place != excluded:
                parts.setdefault(self._class_of[place], []).append(place)
        return [self._split(places) for places in parts.values()]

    def _append(self, one: _Class, message: Message, emitted: list[Emission]) -> None:
        if not one.queues:
            self._unlist(one)
        result = self._result(message, one.sample)
        known = one.queues.get(result)
        queue = known or Queue(result)
        queue.append(message)
        if not queue.is_satisfied:
            self._hold(message)
            if known is None:
                self._add(one, queue)
            return
        emitted.append(Emission(tuple(queue.messages), one.recipients))
        if known is not None:
            self._drop(one, queue)
            self._release(queue.messages[:-1])

    def _rescan(self, one: _Class, arrived: Iterable[Message]) -> list[Emission]:
        """Scan the messages of a recipient whose C_R changed, and those that arrived."""
        pending = [*pending_of(self._take_queues(one)), *arrived]
        emitted, queues = self._scan(pending, one.sample)
        del self._changed[one.sample.place]
        for queue in queues:
            self._add(one, queue)
        for messages in emitted:
            self._release(messages)
        return [Emission(messages, one.recipients) for messages in emitted]

    # ---- deadlines

    def _flush(self, now: int) -> list[Emission]:
        due = dict.fromkeys(self._deadlines.due(now))
        due.update((self._class_of[place], None) for place, since in self._changed.items() if since <= now)
        emitted: list[Emission] = []
        for one in due:
            if one.sample.place in self._changed:
                emitted += self._rescan(one, ())
            for queue in oldest_first(one.queues.values()):
                deadline = self.options.deadline(queue)
                if deadline is not None and deadline <= now:
                    emitted.append(Emission(tuple(queue.messages), one.recipients))
                    self._drop(one, queue)
                    self._release(queue.messages)
        for one in due:
            self._settle(one)
        return propagations(emitted, is_per_recipient=self.options.is_per_recipient)

    def _first_deadline(self) -> int | None:
        return self._deadlines.first()

    def _add(self, one: _Class, queue: Queue) -> None:
        one.queues[queue.threshold] = queue
        deadline = self.options.deadline(queue)
        if deadline is not None:
            self._deadlines.add(deadline, one, queue)

    def _drop(self, one: _Class, queue: Queue) -> None:
        del one.queues[queue.threshold]
        if self.options.deadline(queue) is not None:
            self._deadlines.discard(queue)

    def _take_queues(self, one: _Class) -> list[Queue]:
        queues = list(one.queues.values())
        for queue in queues:
            self._drop(one, queue)
        return queues


class Indexed(Classes):
    """Each recipient is a class of its own."""

    def _key(self, recipient: Recipient) -> bytes:
        return b"%d %b" % (recipient.place, recipient.key)


def _without(places: list[int], others: list[int]) -> list[int]:
    """Both in order."""
    if len(others) == 1:
        del places[bisect_left(places, others[0])]
        return places
    left_out = set(others)
    return [place for place in places if place not in left_out]
