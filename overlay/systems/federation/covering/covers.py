"""Covering of subscriptions, with the temporal bound of the paper's future work [P437]."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.federation.covering.implication import Conjunction
from overlay.systems.federation.wire.values import Subscription


@dataclass(frozen=True, slots=True)
class Coverable:
    """A subscription, prepared for many comparisons."""

    subscription: Subscription
    conjunction: Conjunction
    scopes: frozenset[str]

    @classmethod
    def of(cls, subscription: Subscription) -> Coverable:
        return cls(subscription, Conjunction.of(subscription.expression), frozenset(subscription.scopes))

    def covers(self, other: Coverable) -> bool:
        """Whether ``other`` is needless on a link that has this one.

        Only streams take part. A query ends with its first notification, and with it what it covered would be
        unwatched until the next message; a covered query would never reach a provider that answers it. A notification
        travels with the highest priority of what it satisfies, so a covered one has no higher one.
        """
        wide, narrow = self.subscription, other.subscription
        return (
            not (wide.once or narrow.once)
            and wide.expires >= narrow.expires
            and wide.priority >= narrow.priority
            and self.scopes >= other.scopes
            and other.conjunction.implies(self.conjunction)
        )


def uncovered(subscriptions: list[Coverable]) -> list[Coverable]:
    """Those that no other covers; of several that cover each other the one with the smallest id.

    The order is kept. Quadratic in the number of subscriptions.
    """
    return [one for one in subscriptions if not any(_outranks(other, one) for other in subscriptions)]


def _outranks(other: Coverable, one: Coverable) -> bool:
    if other is one or not other.covers(one):
        return False
    return other.subscription.id < one.subscription.id or not one.covers(other)
