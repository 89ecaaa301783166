"""Which client calls when, in an open loop: rounds over all clients, each a new permutation."""

from __future__ import annotations

from functools import lru_cache
from math import log

from overlay.core.chance import Stream, derive_seed
from overlay.core.node import SECOND
from overlay.systems.radiator.workload import Workload


class Turns:
    """Message ``j`` is of a client of round ``j // clients``. Times are ns from the start of measuring."""

    def __init__(self, workload: Workload, seed: int) -> None:
        self._clients, self._rate, self._seed = workload.clients, workload.messages_per_s, seed
        self._end = round(workload.duration_s * SECOND)
        self._gaps = Stream(derive_seed(seed, "arrivals")) if workload.arrivals == "poisson" else None
        self._times: list[int] = []
        """Of the first messages, with drawn gaps."""
        self._round = lru_cache(maxsize=8)(self._drawn_round)

    def due(self, client: int, turn: int) -> int | None:
        """When the ``turn``-th call of a client is due; ``None``: it is not within measuring."""
        at = self._at(turn * self._clients) if turn * self._clients else 0
        if at >= self._end:
            return None
        at = self._at(turn * self._clients + self._round(turn)[1][client])
        return at if at < self._end else None

    def sender(self, message: int) -> int:
        return self._round(message // self._clients)[0][message % self._clients]

    def _drawn_round(self, number: int) -> tuple[list[int], list[int]]:
        """The clients in order, and the place of each client."""
        chance = Stream(derive_seed(self._seed, "round", number))
        order = chance.sample(range(self._clients), self._clients)
        places = [0] * self._clients
        for place, client in enumerate(order):
            places[client] = place
        return order, places

    def _at(self, message: int) -> int:
        if self._gaps is None:
            return round(message * SECOND / self._rate)
        times, mean = self._times, SECOND / self._rate
        while len(times) <= message:
            last = times[-1] if times else 0
            if last >= self._end:
                return last
            times.append(last + round(-mean * log(1 - self._gaps.random())))
        return times[message]


@lru_cache(maxsize=4)
def turns(workload: Workload, seed: int) -> Turns:
    """Shared by the fleets of one process."""
    return Turns(workload, seed)
