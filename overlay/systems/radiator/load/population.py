"""Who the clients are: the attributes of their registrations. Equal workloads and seeds give equal clients."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from overlay.core.chance import Chance, Stream, derive_seed
from overlay.systems.radiator.workload import Workload

LATITUDES, LONGITUDES = (38.6, 38.9), (-9.3, -9.0)
SPOTS = tuple(f"spot-{number:02d}" for number in range(20))
"""The locations of scenario 3, popular spots."""
SHARES = 1_000


def client_id(number: int) -> str:
    return f"client-{number:05d}"


def client_number(id: str) -> int:
    return int(id.rpartition("-")[2])


class Population:
    """All clients of a workload. ``scenario`` decides what a location is."""

    def __init__(self, workload: Workload, scenario: str, seed: int) -> None:
        self._workload, self._scenario, self._seed = workload, scenario, seed
        self._friends = _friendships(workload.clients, workload.friends, Stream(derive_seed(seed, "friends")))
        chance = Stream(derive_seed(seed, "p2p"))
        accepting = round(workload.p2p_share * workload.clients)
        is_all = accepting == workload.clients
        self._p2p = None if is_all else frozenset(chance.sample(range(workload.clients), accepting))

    def is_p2p(self, number: int) -> bool:
        return self._p2p is None or number in self._p2p

    def attributes(self, number: int) -> dict[str, Any]:
        chance = Stream(derive_seed(self._seed, "client", number))
        return {
            "location": self.draw_location(chance),
            "friends": self.friends(number),
            "num_of_shares": chance.randrange(SHARES),
        }

    def location(self, number: int) -> Any:
        return self.draw_location(Stream(derive_seed(self._seed, "client", number)))

    def friends(self, number: int) -> list[str]:
        """Names, in order."""
        return [client_id(other) for other in self._friends.get(number, ())]

    def draw_location(self, chance: Chance) -> Any:
        if self._scenario == "3":
            return SPOTS[chance.randrange(len(SPOTS))]
        latitude, longitude = (low + (high - low) * chance.random() for low, high in (LATITUDES, LONGITUDES))
        return {"latitude": round(latitude, 6), "longitude": round(longitude, 6)}

    def draw_friends(self, chance: Chance) -> list[str]:
        """As many as the mean, drawn for one message."""
        wanted = min(round(self._workload.friends), self._workload.clients)
        return [client_id(other) for other in sorted(chance.sample(range(self._workload.clients), wanted))]


@lru_cache(maxsize=4)
def population(workload: Workload, scenario: str, seed: int) -> Population:
    """Shared by the fleets of one process."""
    return Population(workload, scenario, seed)


def _friendships(clients: int, mean: float, chance: Chance) -> dict[int, list[int]]:
    """Symmetric, each pair at most once."""
    wanted = min(round(clients * mean / 2), clients * (clients - 1) // 2)
    pairs = set[tuple[int, int]]()
    if 2 * wanted > clients * (clients - 1) // 2:
        everyone = [(a, b) for a in range(clients) for b in range(a + 1, clients)]
        pairs.update(chance.sample(everyone, wanted))
    while len(pairs) < wanted:
        a, b = chance.randrange(clients), chance.randrange(clients)
        if a != b:
            pairs.add((min(a, b), max(a, b)))
    friends: dict[int, list[int]] = {}
    for a, b in sorted(pairs):
        friends.setdefault(a, []).append(b)
        friends.setdefault(b, []).append(a)
    return {number: sorted(others) for number, others in friends.items()}
