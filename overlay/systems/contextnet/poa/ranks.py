"""Scores of gateways: above 0, higher is lighter (contract, section 5; seed, 5.2). A rank is any ``Rank``.

The paper has two built-in ones that it does not describe; ``headroom`` and ``latency`` stand for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Final, NamedTuple

from overlay.systems.contextnet.poa.statistics import Statistics

LEAST: Final = 0.02
"""Of a score, so that it stays above 0."""
LEAST_LOAD: Final = 0.05
"""Below it, connections per load say little."""
LEAST_SHARE: Final = 0.05
"""Of the mean number of connections; the same."""


class Load(NamedTuple):
    """What a gateway reports. ``cpu``, ``pool`` and ``memory`` are used shares, 0 to 1."""

    cpu: float
    pool: float
    memory: float
    connections: float
    most_connections: int
    """0: it is to be empty."""


Rank = Callable[[Mapping[str, Statistics], Mapping[str, Load]], Mapping[str, float]]
"""A score for each gateway of ``loads``; ``Statistics`` are of those that have reported a round of pings."""


def headroom(statistics: Mapping[str, Statistics], loads: Mapping[str, Load]) -> Mapping[str, float]:
    """What is left of the scarcest."""
    return {gateway: max(LEAST, 1 - max(load.cpu, load.pool, load.memory)) for gateway, load in loads.items()}


def latency(statistics: Mapping[str, Statistics], loads: Mapping[str, Load]) -> Mapping[str, float]:
    """Ping rate · m/(m + median), m = the median of all medians. A gateway without pings has a rate of 1 and m."""
    medians = {name: found.median_us for name, found in statistics.items() if name in loads and found.pongs}
    middle = median(medians.values()) if medians else 0.0
    return {gateway: _latency(statistics.get(gateway), medians.get(gateway, middle), middle) for gateway in loads}


def _latency(found: Statistics | None, median_us: float, middle: float) -> float:
    rate = 1.0 if found is None or not found.pinged else found.ping_rate
    return max(LEAST, rate * (middle / (middle + median_us) if middle else 1.0))


def capacity(statistics: Mapping[str, Statistics], loads: Mapping[str, Load]) -> Mapping[str, float]:
    """Connections that would make it full. Where there are too few to tell: its limit of connections, times what the
    others can do of theirs."""
    least = LEAST_SHARE * sum(load.connections for load in loads.values()) / max(1, len(loads))
    known = {
        gateway: load.connections / used
        for gateway, load in loads.items()
        if (used := max(load.cpu, load.pool)) >= LEAST_LOAD and load.connections >= max(1, least)
    }
    per_limit = [score / most for gateway, score in known.items() if (most := loads[gateway].most_connections)]
    usual = median(per_limit or [1.0])
    return {gateway: known.get(gateway) or max(LEAST, load.most_connections * usual) for gateway, load in loads.items()}


RANKS: Final[Mapping[str, Rank]] = {"headroom": headroom, "latency": latency, "capacity": capacity}
"""By name, as in the setting ``rank``."""
