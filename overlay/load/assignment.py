"""Assigns clients to brokers, by named methods. Pure.

Systems use it to plan clients. A new method is a function of
``(Demand, Chance)`` and a line in ``ASSIGNMENTS``, from which forms, the API and the checks read it. Methods
return the brokers of the providers and of the consumers, client by client. Providers use at most
``holders`` brokers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from math import dist, inf

from overlay.core.chance import Chance
from overlay.core.errors import InvalidSetting

MACHINES = 5
"""Machines that run providers, and the same number that run consumers (thesis, section 5.1)."""

Position = tuple[float, float]
Positions = Sequence[Sequence[float]]
"""A pair of numbers for each broker."""
Brokers = list[int]


@dataclass(frozen=True, slots=True)
class Demand:
    """The clients and brokers of an assignment."""

    brokers: int
    providers: int
    consumers: int
    updates_per_s: float
    """Of one provider."""
    requests_per_s: float
    """Of one consumer."""
    holders: int
    """Maximum brokers of providers; 0 for no limit."""
    positions: Positions | None
    """The position of each broker in the unit square; ``None`` if unknown."""

    def held_by(self, pool: Sequence[int]) -> list[int]:
        """The first ``holders`` of ``pool``. Raises ``InvalidSetting`` if there are fewer."""
        if self.holders > len(pool):
            raise InvalidSetting("holders", f"this assignment attaches providers to at most {len(pool)} brokers")
        return list(pool[: self.holders or None])


Assign = Callable[[Demand, Chance], tuple[Brokers, Brokers]]


def by_machines(demand: Demand, chance: Chance) -> tuple[Brokers, Brokers]:
    """As in the thesis: five machines of each kind, each on its own broker, clients round robin over the machines."""
    provided, asked_of = assign_machines(demand.brokers, chance)
    provided = demand.held_by(provided)
    return (
        [provided[i % len(provided)] for i in range(demand.providers)],
        [asked_of[i % len(asked_of)] for i in range(demand.consumers)],
    )


def at_random(demand: Demand, chance: Chance) -> tuple[Brokers, Brokers]:
    """Each client independently, with equal probability for all brokers."""
    pool = chance.sample(range(demand.brokers), len(demand.held_by(range(demand.brokers))))
    return (
        [pool[chance.randrange(len(pool))] for _ in range(demand.providers)],
        [chance.randrange(demand.brokers) for _ in range(demand.consumers)],
    )


def in_turn(demand: Demand, chance: Chance) -> tuple[Brokers, Brokers]:
    """Round robin over the brokers in a random order; consumers continue after the last provider."""
    order = chance.sample(range(demand.brokers), demand.brokers)
    held = demand.held_by(order)
    return (
        [held[i % len(held)] for i in range(demand.providers)],
        [order[(demand.providers + i) % len(order)] for i in range(demand.consumers)],
    )


def to_least_loaded(demand: Demand, chance: Chance) -> tuple[Brokers, Brokers]:
    """Each client to the broker that expects the fewest messages per second so far; ties are broken at random.

    Load-aware assignment is future work of the thesis (section 6). Load is computed from the workload's
    intervals before anything is sent, so equal seeds give equal plans.
    """
    load = [0.0] * demand.brokers
    held = demand.held_by(chance.sample(range(demand.brokers), demand.brokers))
    return (
        _fill(demand.providers, held, demand.updates_per_s, load, chance),
        _fill(demand.consumers, range(demand.brokers), demand.requests_per_s, load, chance),
    )


def _fill(clients: int, pool: Sequence[int], rate: float, load: list[float], chance: Chance) -> Brokers:
    """The broker of each of ``clients`` clients that send ``rate`` messages a second; adds them to ``load``."""
    queue = [(load[broker], chance.random(), broker) for broker in pool]
    heapify(queue)
    chosen = []
    for _ in range(clients):
        broker = queue[0][2]
        chosen.append(broker)
        load[broker] += rate
        heapreplace(queue, (load[broker], chance.random(), broker))
    return chosen


def to_nearest(demand: Demand, chance: Chance) -> tuple[Brokers, Brokers]:
    """Clients are distributed uniformly in the unit square and assigned to the nearest broker."""
    if demand.positions is None:
        raise InvalidSetting("assignment", "nearest needs the brokers' positions, and this topology has none")
    held = demand.held_by(chance.sample(range(demand.brokers), demand.brokers))
    providers, consumers = Nearest(held, demand.positions), Nearest(range(demand.brokers), demand.positions)
    return (
        [providers.to((chance.random(), chance.random()), chance) for _ in range(demand.providers)],
        [consumers.to((chance.random(), chance.random()), chance) for _ in range(demand.consumers)],
    )


class Nearest:
    """Finds the nearest of some brokers.

    Brokers are sorted along the axis with the largest spread, and searched outwards from the position. At the
    limits, comparing each client with each broker would take minutes.
    """

    def __init__(self, brokers: Sequence[int], positions: Positions) -> None:
        self._at: dict[Position, list[int]] = {}
        for broker in brokers:
            x, y = positions[broker]
            self._at.setdefault((x, y), []).append(broker)
        self._axis = max((0, 1), key=lambda axis: len({place[axis] for place in self._at}))
        self._places = sorted(self._at, key=lambda place: place[self._axis])
        self._along = [place[self._axis] for place in self._places]

    def to(self, place: Position, chance: Chance) -> int:
        """The nearest broker; one at random if several have the same position."""
        here = place[self._axis]
        left = bisect_left(self._along, here) - 1
        right = left + 1
        best, nearest = inf, self._places[0]
        while left >= 0 or right < len(self._places):
            on_left = here - self._along[left] if left >= 0 else inf
            on_right = self._along[right] - here if right < len(self._places) else inf
            if min(on_left, on_right) >= best:
                break
            if on_left < on_right:
                candidate, left = self._places[left], left - 1
            else:
                candidate, right = self._places[right], right + 1
            away = dist(candidate, place)
            if away < best:
                best, nearest = away, candidate
        brokers = self._at[nearest]
        return brokers[chance.randrange(len(brokers))] if len(brokers) > 1 else brokers[0]


def assign_machines(brokers: int, chance: Chance) -> tuple[list[int], list[int]]:
    """The brokers of the provider machines and of the consumer machines (systems.md, 1.8).

    Each kind uses ``g = min(5, brokers)`` distinct brokers, and at most ``max(2, 2g - brokers)`` brokers serve both.
    All valid assignments are equally likely: draws are repeated until one is valid, every second one for ten brokers.
    """
    groups = min(MACHINES, brokers)
    both = max(2, 2 * groups - brokers)
    while True:
        providers = chance.sample(range(brokers), groups)
        consumers = chance.sample(range(brokers), groups)
        if len(set(providers) & set(consumers)) <= both:
            return providers, consumers


ASSIGNMENTS: dict[str, Assign] = {
    "machines": by_machines,
    "random": at_random,
    "round-robin": in_turn,
    "least-loaded": to_least_loaded,
    "nearest": to_nearest,
}
"""By name in the workload."""
