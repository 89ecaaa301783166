"""Replication strategies: the brokers on the path of a Response that keep a replica (seed 000, section 3.4.4).

A strategy is a class with one method. To add one, copy a class and add it to ``REPLICATIONS``. Strategies only choose
marks in the Response, so brokers with different strategies work together.

The slot after a hop belongs to the broker that reads the Response when that hop is the last one: after hop ``i`` the
broker of hop ``i + 1``, and after the last hop the receiver of the Response::

    D answers  4|…|C|pc|_|A|pa|_   to B:   the slot after C is A's, the slot after A is B's
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.context_broker.wire.messages import Hops


class Replication(Protocol):
    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        """Choose some of ``slots``, one per broker between the consumer and this one, the nearest to the consumer
        first.

        ``index`` is the setting ``replication_index``. Slot 0 is that of the consumer's own broker.
        """


class NoReplication:
    """No replicas: data is only stored at its providers' brokers."""

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        return ()


class RandomReplication:
    """``min(index, p)`` of the ``p`` brokers on the path, drawn at random (seed 000)."""

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        if index == 1 and slots:
            return (slots[int(chance.random() * len(slots))],)
        return chance.sample(list(slots), min(index, len(slots)))


class PathReplication:
    """Every broker on the path, as in Freenet.

    Paths to rare data are longer, so the number of new copies per query decreases as copies grow. If replicas expire at
    a fixed age, their number approaches the square root of the query rate (Cohen & Shenker 2002).
    """

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        return slots


class RequesterReplication:
    """Only the consumer's own broker, as in Gnutella. The number of copies then grows with the query rate."""

    def choose(self, slots: Sequence[int], index: int, chance: Chance) -> Iterable[int]:
        return (slot for slot in slots if slot == 0)


REPLICATIONS: dict[str, Replication] = {
    "none": NoReplication(),
    "random": RandomReplication(),
    "path": PathReplication(),
    "requester": RequesterReplication(),
}


def slots_between(hops: Hops, previous: Address, answering: Address) -> dict[int, Address]:
    """Each broker between the consumer and this one, by its position in ``hops``, the nearest to the consumer first.

    A broker visited twice counts once, at its slot nearest to the consumer; the answering broker does not count.
    """
    slots: dict[Address, int] = {}
    for position, broker in enumerate((*hops[1:], previous)):
        if broker != answering:
            slots.setdefault(broker, position)
    return {position: broker for broker, position in slots.items()}
