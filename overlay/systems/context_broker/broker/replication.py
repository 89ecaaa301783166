"""Which brokers on the way of a Response are asked to keep a replica (seed 000, section 3.4.4).

A strategy is a class with one method; copy one, and name it in ``REPLICATIONS``. All of them are choices of marks in
the Response, so brokers with different strategies understand each other.

The slot behind a hop belongs to the broker that will read the Response while that hop is its last: behind hop ``i`` the
broker of hop ``i + 1``, and behind the last hop the one that the Response is sent to::

    D answers  4|…|C|pc|_|A|pa|_   to B:   the slot behind C is A's, the slot behind A is B's
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.context_broker.wire.messages import Hops


class Replication(Protocol):
    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        """Some of ``slots``, one for each broker between the consumer and us, the nearest to the consumer first.

        ``index`` is the setting ``replication_index``. Slot 0 is that of the consumer's own broker.
        """


class NoReplication:
    """Nobody: data are only where their providers are."""

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        return ()


class RandomReplication:
    """``min(index, p)`` of the ``p`` brokers on the way, drawn at random (seed 000)."""

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        if index == 1 and slots:
            return (slots[int(chance.random() * len(slots))],)
        return chance.sample(list(slots), min(index, len(slots)))


class PathReplication:
    """Every broker on the way, as Freenet does.

    The way is the longer the rarer the data are, so that copies per query fall as copies grow: where replicas expire at
    a fixed age, their number approaches the square root of the query rate (Cohen & Shenker 2002).
    """

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        return slots


class RequesterReplication:
    """The consumer's own broker only, as Gnutella does: passive. Copies then grow with the query rate itself."""

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        return (slot for slot in slots if slot == 0)


REPLICATIONS: dict[str, Replication] = {
    "none": NoReplication(),
    "random": RandomReplication(),
    "path": PathReplication(),
    "requester": RequesterReplication(),
}


def slots_between(hops: Hops, previous: Address, answering: Address) -> dict[int, Address]:
    """Each broker between the consumer and us under its position in ``hops``, the nearest to the consumer first.

    A broker that the walk passed twice counts once, at its slot nearest the consumer; the answering one never does.
    """
    slots: dict[Address, int] = {}
    for position, broker in enumerate((*hops[1:], previous)):
        if broker != answering:
            slots.setdefault(broker, position)
    return {position: broker for broker, position in slots.items()}
