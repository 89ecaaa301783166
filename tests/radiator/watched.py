"""The aggregator of servers, with a list of what it was given and all pairs that it owes."""

from __future__ import annotations

from overlay.core.node import MILLISECOND
from overlay.systems.radiator.aggregation.choice import make_algorithm
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.language.aggregability import aggregability
from overlay.systems.radiator.language.aggregates import Aggregation
from overlay.systems.radiator.server.retention import Retention


class Watched(Retention):
    """``pairs`` are all (message, recipient's key, its instance)."""

    def __init__(self, *parts):
        super().__init__(*parts)
        self.contexts, self.pairs, self.given = {}, set(), []

    @property
    def pending(self):
        return {
            entry.key: [message.number for message in self.algorithm.pending(place)]
            for place, entry in self._entries.items()
        }

    def accept(self, number, sender, context, now):
        self.contexts[number] = context
        self.given.append(("accept", now, number, sender, context))
        entries = [one for one in self._entries.values() if self.algorithm.options.echo or one is not sender]
        self.pairs.update((number, entry.key, entry.instance) for entry in entries)
        emissions = super().accept(number, sender, context, now)
        assert self.due == len(entries)
        return emissions

    def change(self, entry, now):
        self.given.append(("change", now, entry, dict(entry.attributes), entry.last_context))
        super().change(entry, now)

    def drop(self, entry, now):
        self.given.append(("drop", now, entry))
        return super().drop(entry, now)

    def handle_timer(self, now):
        self.given.append(("timer", now))
        return super().handle_timer(now)


def watched(volume=1, text="", wait_ms=0, echo=True, aggregation="join", index="classes"):
    """``text`` is an aggregability, by default ``volume`` messages; after ``wait_ms``, every queue leaves."""
    options = Options(
        echo=echo,
        retain_max=wait_ms * MILLISECOND,
        is_per_recipient=Aggregation(aggregation).is_per_recipient,
    )
    function = aggregability(text or f"{{volume: {volume}}}")
    return Watched(make_algorithm(index, function, options), Aggregation(aggregation))


def names_of(context):
    """The attribute ``name`` of all messages in a context."""
    if "name" in context.attributes:
        names = context.attributes["name"]
        return names if context.n > 1 else [names]
    ((_, names),) = context.attributes["list(name) by r.id"]
    return names
