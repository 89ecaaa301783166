"""Algorithm 1 with its timers, written a second time from the contract alone: nothing is kept but pending messages.

The forms under ``overlay/systems/radiator/aggregation`` are compared with it. ``story`` draws what happens, ``told`` is
what an implementation says to it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Message
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.language.aggregability import Aggregability, aggregability

SECOND = 10**9
Sent = list[tuple[tuple[int, ...], tuple[int, ...]]]
"""Numbers of messages, and their recipients."""


class Printed:
    """Queues are built from nothing whenever they are needed."""

    def __init__(self, function: Aggregability, options: Options) -> None:
        self.function = function
        self.options = options
        self.clients: dict[int, tuple[str, Any]] = {}
        self.pending: dict[int, list[Message]] = {}
        self.changed: dict[int, int] = {}

    def register(self, place: int, name: str, attributes: Any, now: int) -> Sent:
        sent = self.handle_timer(now - 1)
        self.clients[place] = (name, attributes)
        self.pending[place] = []
        return sent

    def remove(self, place: int, now: int) -> tuple[Sent, list[int]]:
        sent = self.handle_timer(now - 1)
        del self.clients[place]
        self.changed.pop(place, None)
        return sent, [message.number for message in self.pending.pop(place)]

    def change(self, place: int, attributes: Any, now: int) -> Sent:
        sent = self.handle_timer(now - 1)
        self._change(place, attributes, now)
        return sent

    def arrive(self, message: Message, now: int, sender: int, attributes: Any) -> Sent:
        sent = self.handle_timer(now - 1)
        if attributes is not None:
            self._change(sender, attributes, now)
        to_send: dict[Any, list[int]] = {}
        for place in self._loop(message):
            if self.options.echo or place != sender:
                self.pending[place].append(message)
                self._scan(place, to_send)
        return sent + self._sent(to_send)

    def handle_timer(self, now: int) -> Sent:
        at = self.next_timer()
        to_send: dict[Any, list[int]] = {}
        for place in sorted(self.clients) if at is not None and at <= now else ():
            if self.changed.get(place, now + 1) <= now:
                self._scan(place, to_send)
            for queue in sorted(self._queues(place).values(), key=lambda queue: queue[0].number):
                deadline = self._deadline(place, queue)
                if deadline is not None and deadline <= now:
                    self._emit(place, queue, to_send)
        return self._sent(to_send)

    def next_timer(self) -> int | None:
        times = [self._deadline(place, queue) for place in self.clients for queue in self._queues(place).values()]
        if self.options.has_deadlines or self.options.retain_max:
            times += self.changed.values()
        return min((time for time in times if time is not None), default=None)

    def _loop(self, message: Message) -> list[int]:
        everyone, size = sorted(self.clients), self.options.audience
        if not 0 < size < len(everyone):
            return everyone
        start = message.number // 100 * size
        return sorted(everyone[(start + i) % len(everyone)] for i in range(size))

    def _change(self, place: int, attributes: Any, now: int) -> None:
        name, before = self.clients[place]
        self.clients[place] = (name, attributes)
        if self.pending[place] and self.function.class_key(before, name) != self.function.class_key(attributes, name):
            self.changed.setdefault(place, now)

    def _result(self, place: int, message: Message) -> Any:
        name, attributes = self.clients[place]
        return self.function.evaluate(message.context.attributes, message.context.people, attributes, name)

    def _queues(self, place: int) -> dict[Any, list[Message]]:
        queues: dict[Any, list[Message]] = {}
        for message in [] if place in self.changed else self.pending[place]:
            queues.setdefault(self._result(place, message), []).append(message)
        return queues

    def _deadline(self, place: int, queue: list[Message]) -> int | None:
        kind, value = self._result(place, queue[0])
        times = [queue[0].received + self.options.retain_max] if self.options.retain_max else []
        if kind == "time" and self.options.has_deadlines:
            times.append(queue[0].received + value * SECOND)
        return min(times, default=None)

    def _scan(self, place: int, to_send: dict[Any, list[int]]) -> None:
        queues: dict[Any, list[Message]] = {}
        for message in list(self.pending[place]):
            kind, value = result = self._result(place, message)
            queue = queues.setdefault(result, [])
            queue.append(message)
            if kind == "volume":
                is_due = len(queue) >= value
            elif kind == "people":
                is_due = len({person for one in queue for person in one.context.people}) >= value
            else:
                is_due = queue[-1].received - queue[0].received >= value * SECOND
            if is_due:
                self._emit(place, queue, to_send)
                queue.clear()
        self.changed.pop(place, None)

    def _emit(self, place: int, queue: list[Message], to_send: dict[Any, list[int]]) -> None:
        self.pending[place] = [message for message in self.pending[place] if message not in queue]
        key = tuple(message.number for message in queue)
        to_send.setdefault((key, place) if self.options.is_per_recipient else key, []).append(place)

    def _sent(self, to_send: dict[Any, list[int]]) -> Sent:
        keys = [key[0] if self.options.is_per_recipient else key for key in to_send]
        return [(key, tuple(places)) for key, places in zip(keys, to_send.values(), strict=True)]


# ---- what happens

VALUES = {"a": (1, 2, 1.0, True), "friends": ([], ["A"], ["B", "C"]), "z": (0, 1)}
FUNCTIONS = (
    "{volume: 1}",
    "{volume: 3}",
    "{people: 2}",
    "{time: 2}",
    "{time: s.a}",
    "{volume: r.a}",
    "{volume: s.a + r.a}",
    "{time: 3} if friend(s, r) else {volume: 2} if friend_of_friend(s, r) else {people: 3}",
    "{volume: 2 + r.a} if s.z else {time: r.a}",
    "{people: 2} if r.id == 'c1' else {volume: 3} if s.a == r.a else {time: 4}",
    "{volume: 4} if r.z == s.z else {volume: 3}",
    "{time: 4 - r.a} if r.z else {people: 1 + r.a}",
)
Event = tuple[Any, ...]


def attributes(chance: random.Random) -> dict[str, Any]:
    return {name: chance.choice(values) for name, values in VALUES.items() if chance.random() < 0.9}


def story(chance: random.Random, events: int = 40) -> tuple[str, Options, list[Event]]:
    """A function, options, and events ``(now, is punctual, what, …)``."""
    options = Options(
        echo=chance.random() < 0.5,
        has_deadlines=chance.random() < 0.6,
        retain_max=chance.choice((0, 0, 3 * SECOND)),
        audience=chance.choice((0, 0, 0, 1, 3)),
        is_per_recipient=chance.random() < 0.15,
    )
    known, away, now, number, found = list[int](), list[int](), 0, chance.choice((0, 90)), list[Event]()
    for _ in range(events):
        now += chance.choice((0, 0, SECOND // 2, SECOND, SECOND, 2 * SECOND))
        kind = chance.choice(("register", "register", "remove", "change", *["arrive"] * 8, "timer"))
        event: Event
        if kind == "register" or not known:
            back = away and chance.random() < 0.5
            place = away.pop(chance.randrange(len(away))) if back else len(known) + len(away)
            known.append(place)
            event = ("register", place, f"c{place % 3}", attributes(chance))
        elif kind == "remove":
            away.append(known.pop(chance.randrange(len(known))))
            event = ("remove", away[-1])
        elif kind == "change":
            event = ("change", chance.choice(known), attributes(chance))
        elif kind == "timer":
            event = ("handle_timer",)
        else:
            sender = chance.choice(known)
            changed = attributes(chance) if chance.random() < 0.4 else None
            context = Context((chance.choice("ABC"),), 0, 0, attributes(chance))
            event = ("arrive", Message(number, context, now), sender, changed)
            number += 1
        found.append((now, chance.random() < 0.8, *event))
    return chance.choice(FUNCTIONS), options, found


def told(make: Callable[[Aggregability, Options], Any], text: str, options: Options, events: list[Event]) -> list[Any]:
    """What is sent and dropped at each event, and the next timer. A punctual driver handles timers first."""
    function = aggregability(text, "{people: 2}")
    algorithm = make(function, options)
    lines: list[Any] = []
    for now, is_punctual, what, *arguments in events:
        while is_punctual and (at := algorithm.next_timer()) is not None and at < now:
            lines.append((at, sent_of(algorithm.handle_timer(at))))
        call = getattr(algorithm, what)
        result = call(arguments[0], now, *arguments[1:]) if what == "arrive" else call(*arguments, now)
        if what == "remove":
            lines.append([getattr(message, "number", message) for message in result[1]])
            result = result[0]
        lines.append((now, sent_of(result), algorithm.next_timer()))
        if isinstance(algorithm, Algorithm):
            algorithm.check_invariants()
    return lines


def sent_of(emissions: Any) -> Sent:
    return [(tuple(getattr(one, "number", one) for one in key), tuple(places)) for key, places in emissions]
