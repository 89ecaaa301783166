"""The server's retention with Algorithm 1, as printed, next to it: at every call both must say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlay.systems.radiator.aggregation.queues import Message
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.language.aggregability import aggregability
from overlay.systems.radiator.server.aggregator import Emission
from overlay.systems.radiator.server.retention import Retention
from tests.radiator.printed import Printed, Sent
from tests.radiator.swarm.ledger import Ledger


class Shadowed(Retention):
    """``ledger`` hears what becomes due, leaves and is dropped. ``on_error`` is the setting."""

    ledger: Ledger
    on_error: str

    def __init__(self, algorithm: Any, aggregation: Any, tracer: Any) -> None:
        super().__init__(algorithm, aggregation, tracer)
        function = aggregability(algorithm.function.text, self.on_error)
        self.printed = Printed(function, algorithm.options)
        self._by_place: dict[int, Entry] = {}

    def accept(self, number: int, sender: Entry, context: Context, now: int) -> list[Emission]:
        emissions = super().accept(number, sender, context, now)
        message = Message(number, context, now)
        expected = self.printed.arrive(message, now, sender.place, c_r(sender))
        left_out = None if self.printed.options.echo else sender.place
        due = [self._by_place[place] for place in self.printed._loop(message) if place != left_out]
        assert self.due == len(due), "the number of recipients is wrong"
        self.ledger.becomes_due(number, context, due)
        self._compare(emissions, expected)
        return emissions

    def change(self, entry: Entry, now: int) -> None:
        super().change(entry, now)
        if entry.place in self.printed.clients:
            expected = self.printed.change(entry.place, c_r(entry), now)
        else:
            self._by_place[entry.place] = entry
            expected = self.printed.register(entry.place, entry.key[1], c_r(entry), now)
        assert not expected, "a deadline was missed"

    def drop(self, entry: Entry, now: int) -> Sequence[int]:
        dropped = super().drop(entry, now)
        if entry.place in self.printed.clients:
            del self._by_place[entry.place]
            expected, numbers = self.printed.remove(entry.place, now)
            assert not expected, "a deadline was missed"
            assert list(dropped) == numbers, "what is dropped was not pending, or not all of it"
            self.ledger.drops(entry, numbers)
        else:
            assert not dropped, "a client that is out of the loop had something pending"
        return dropped

    def handle_timer(self, now: int) -> list[Emission]:
        emissions = super().handle_timer(now)
        self._compare(emissions, self.printed.handle_timer(now))
        return emissions

    def _compare(self, emissions: Sequence[Emission], expected: Sent) -> None:
        found = [(one.messages, tuple(entry.place for entry in one.recipients)) for one in emissions]
        assert found == expected, f"Algorithm 1 emits {expected}, not {found}"
        for messages, places in expected:
            self.ledger.leave(messages, [self._by_place[place] for place in places])

    def check(self, reachable: Sequence[Entry]) -> None:
        """After a step: pending messages, timers and the loop agree."""
        assert sorted(self.printed.clients) == [entry.place for entry in reachable], "the loop is not all reachable"
        for place, pending in self.printed.pending.items():
            found = [message.number for message in self.algorithm.pending(place)]
            assert found == [message.number for message in pending], "pending messages differ"
        assert self.next_timer() == self.printed.next_timer(), "the next deadline differs"


def c_r(entry: Entry) -> dict[str, Any]:
    """C_R: the registration's attributes overlaid by those of the last message."""
    context = entry.last_context
    return {**entry.attributes, **(context.attributes if context is not None else {})}
