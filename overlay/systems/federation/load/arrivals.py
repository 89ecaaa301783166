"""Who subscribes or publishes when. Draws depend on the seed and their purpose only, so that all arms of an experiment
have the same ones: neither settings nor the number of brokers change them, and a rate only stretches them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from math import log

from overlay.core.chance import Stream, derive_seed
from overlay.core.node import SECOND
from overlay.load.popularity import Popularity
from overlay.systems.federation.workload import ONCE, Workload

NOTES_AFTER = SECOND
"""Notifications begin when the subscriptions, which are sent at once, have reached the brokers."""


class Arrivals:
    """Number ``k`` is of client ``clients[k]``, ``times[k]`` ns after the start of measuring, in order."""

    def __init__(self, times: Sequence[int], clients: Sequence[int]) -> None:
        self.times, self._clients = times, clients
        self._order = array("q", sorted(range(len(times)), key=clients.__getitem__))
        """Arrivals, client by client."""

    def __len__(self) -> int:
        return len(self.times)

    def of(self, client: int) -> Sequence[int]:
        """The numbers of a client's arrivals, in order."""
        order, clients = self._order, self._clients
        begin = bisect_left(order, client, key=clients.__getitem__)
        end = bisect_left(order, client + 1, begin, key=clients.__getitem__)
        return order[begin:end] if end > begin else ()


class Asked(Arrivals):
    """Subscriptions of consumers."""

    def __init__(self, workload: Workload, seed: int, times: Sequence[int]) -> None:
        count = len(times)
        super().__init__(times, _choices(count, workload.consumers, seed, "consumers"))
        self._scopes = _asked_for(count, workload, seed)
        self._is_low = _drawn(count, workload.priority_low_share, seed, "priorities")
        self._is_query = _drawn(count, workload.query_share if workload.kind == ONCE else 0, seed, "ways")

    def scope(self, number: int) -> int:
        return self._scopes[number]

    def is_low(self, number: int) -> bool:
        """Whether it has the low priority."""
        return bool(self._is_low) and bool(self._is_low[number])

    def is_query(self, number: int) -> bool:
        """Whether it goes as QUERY instead of a subscription."""
        return bool(self._is_query) and bool(self._is_query[number])


@lru_cache(maxsize=4)
def asked(workload: Workload, seed: int) -> Asked:
    """The queries at random times, or the subscriptions, all at once. Shared by the fleets of one process."""
    return Asked(workload, seed, asking_times(workload, seed))


@lru_cache(maxsize=4)
def published(workload: Workload, seed: int) -> Arrivals:
    """The notifications that providers publish without being asked."""
    times = publishing_times(workload, seed)
    return Arrivals(times, _choices(len(times), workload.providers, seed, "providers"))


def asking_times(workload: Workload, seed: int) -> Sequence[int]:
    if workload.kind == ONCE:
        return _times(workload.queries, workload.rate_per_s, seed, "queries")
    return array("q", bytes(8 * workload.subscriptions))


def publishing_times(workload: Workload, seed: int) -> Sequence[int]:
    count = 0 if workload.kind == ONCE else workload.notifications
    return _times(count, workload.rate_per_s, seed, "notifications", NOTES_AFTER)


@lru_cache(maxsize=8)
def _times(count: int, rate_per_s: float, seed: int, purpose: str, begin: int = 0) -> array[int]:
    """Each a drawn gap after the one before, the first after ``begin`` (ns)."""
    chance, mean = Stream(derive_seed(seed, "arrivals", purpose)), SECOND / rate_per_s
    times, at = array("q"), float(begin)
    for _ in range(count):
        at -= mean * log(1 - chance.random())
        times.append(round(at))
    return times


def _choices(count: int, among: int, seed: int, purpose: str) -> array[int]:
    chance = Stream(derive_seed(seed, "choices", purpose))
    return array("q", [chance.randrange(among) for _ in range(count)])


def _asked_for(count: int, workload: Workload, seed: int) -> array[int]:
    """Scopes."""
    chance, popularity = (
        Stream(derive_seed(seed, "choices", "scopes")),
        Popularity(workload.scopes, workload.popularity),
    )
    return array("q", [popularity.draw(chance) for _ in range(count)])


def _drawn(count: int, share: float, seed: int, purpose: str) -> bytes:
    """A byte for each, 1 with this probability; none without."""
    chance = Stream(derive_seed(seed, purpose))
    return bytes(chance.random() < share for _ in range(count)) if share else b""
