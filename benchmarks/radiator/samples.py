"""Messages of the workload, for all parts of this section: the same as those of runs with the same clients and seed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from overlay.core.chance import Stream
from overlay.systems.radiator.context import Context, parse_context
from overlay.systems.radiator.load.contents import Contents
from overlay.systems.radiator.load.population import Population, population
from overlay.systems.radiator.workload import Workload

SEED = 2015
SCENARIO = "custom"
CLIENTS = 1_000
FIRST_MS = 1_790_000_000_000
APART_MS = 10


@lru_cache(maxsize=8)
def bodies(count: int, seed: int = SEED) -> tuple[bytes, ...]:
    """Canonical JSON of the first messages, each of a client drawn at random."""
    return tuple(_bodies(count, seed))


def contexts(count: int, seed: int = SEED) -> list[Context]:
    return [parse_context(body) for body in bodies(count, seed)]


def people(clients: int = CLIENTS, seed: int = SEED) -> Population:
    return population(Workload(clients=clients), SCENARIO, seed)


def _bodies(count: int, seed: int) -> Iterator[bytes]:
    contents, chance = Contents(Workload(clients=CLIENTS), SCENARIO, people(seed=seed), seed), Stream(seed)
    for number in range(count):
        yield contents.message(chance.randrange(CLIENTS), number, FIRST_MS + APART_MS * number)
