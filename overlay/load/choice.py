"""Chooses the broker of a client while it runs, by latency, load or place, and when it moves to a better one. Pure.

Counterparts: ``assignment`` plans clients before a run; ``brokerweb.networks.bootstrap`` ranks bootstrap lists.
Load-aware assignment is future work of the thesis (section 6).

Clients that all see the same idle broker must not all move there. By load, a client therefore compares its broker with
one that it draws at random, and moves with the probability 1 - load there / load here. If all clients decide at the
same time, the expected load of a less loaded broker does not exceed the average afterwards (Berenbrink, Friedetzky,
Goldberg, Goldberg, Hu, Martin: Distributed selfish load balancing, SIAM J. Computing 37, 2007). Latency and place
change little with the number of clients; there a margin is enough. A client also stays for a minimum time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import dist, inf, log

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import SECOND
from overlay.load.assignment import Position

LATENCY, LOAD, PLACE = "latency", "load", "place"
BY = (LATENCY, LOAD, PLACE)
"""What a broker is chosen by."""
NEAR_MS = 20.0
"""For a client with a name, brokers whose round trips differ by less are equally near: the noise of a busy machine."""
IDLE_PER_S = 5.0
"""Added to each load: brokers with less to do are equally idle."""
MARGIN = 0.2
"""A broker is better if its cost is less by this share."""
STAY_NS = 10 * SECOND
"""Minimum time at a broker that answers: at most six moves a minute."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is known of a broker; ``None``: unknown."""

    address: Address
    round_trip_ms: float | None = None
    load_per_s: float | None = None
    """Messages that it receives per second."""
    place: Position | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client wants."""

    by: str = LATENCY
    """One of ``BY``."""
    who: str = ""
    """Its name, by which brokers that are equally good get their order: each client has another one. Without it, the
    order is that of the costs alone."""
    place: Position | None = None
    """Where it is; without it all places are equally far."""


def ranked(candidates: Iterable[Candidate], wish: Wish) -> list[Candidate]:
    """All of them, the best first; those of unknown cost last.

    By load and with a name, each broker comes first for a share of all names that is inversely proportional to its load
    (weighted rendezvous hashing), so that clients that read the same list are spread.
    """
    known = list(candidates)
    nearest = min((one.round_trip_ms for one in known if one.round_trip_ms is not None), default=0.0)

    def key(one: Candidate) -> tuple[float, float]:
        cost, own = cost_of(one, wish), _draw(wish.who, one.address) if wish.who else 0.0
        if cost == inf or not own:
            return cost, own
        if wish.by == LOAD:
            return -log(own) * cost, own
        if wish.by == LATENCY:
            return float(int((cost - nearest) / NEAR_MS).bit_length()), own
        return cost, own

    return sorted(known, key=key)


def cost_of(one: Candidate, wish: Wish) -> float:
    """Milliseconds, messages per second or distance; infinite if unknown."""
    if wish.by == LATENCY:
        return inf if one.round_trip_ms is None else one.round_trip_ms
    if wish.by == LOAD:
        return inf if one.load_per_s is None else one.load_per_s + IDLE_PER_S
    return inf if one.place is None or wish.place is None else dist(one.place, wish.place)


def better(current: Candidate, candidates: Sequence[Candidate], wish: Wish, chance: Chance) -> Candidate | None:
    """The broker to move to; ``None``: stay. ``candidates`` are those that answer."""
    here = cost_of(current, wish)
    others = [one for one in candidates if one.address != current.address and cost_of(one, wish) < inf]
    if not others:
        return None
    if wish.by == LOAD:
        one = others[chance.randrange(len(others))]
        there = cost_of(one, wish)
        if there >= (1 - MARGIN) * here:
            return None
        return one if here == inf or chance.random() < 1 - there / here else None
    one = min(others, key=lambda other: cost_of(other, wish))
    there = cost_of(one, wish)
    least = NEAR_MS if wish.by == LATENCY else 0.0
    return one if there < (1 - MARGIN) * here and there + least <= here else None


def _draw(who: str, broker: Address) -> float:
    """Uniform between 0 and 1, always the same for a name and a broker."""
    digest = blake2b(repr((who, broker)).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") + 1) / (2**64 + 2)
