"""What a simulated run is expected to cost before it is simulated, from its configuration alone. Pure.

A processor spends its time on exchanges: those of clients with their broker, those that a search makes, and the pings
of neighbours. How many a second of processor does differs between machines and with the settings, so it is measured:
what is expected here is divided by the pace of runs that were simulated before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from overlay.broker.config import BrokerConfig
from overlay.workload import Workload, ramp_s

ROUGH_PER_S = 30_000.0
"""Exchanges that a second of processor does, where nothing was simulated yet: an order of magnitude."""
SEARCHED = 4.0
"""Exchanges between brokers that a request leads to, about: fewer where data are near, more in a large overlay."""


def exchanges(configuration: Mapping[str, Any]) -> float:
    """How many exchanges a run of ``configuration`` has, about."""
    workload, settings = Workload(**configuration["workload"]), configuration["settings"]
    seconds: float = ramp_s(workload) / 2 + workload.duration_s
    updates: float = workload.providers * (1 + seconds / workload.update_interval_s)
    requests: float = workload.consumers * (1 + seconds / workload.request_interval_s)
    several: bool = configuration["topology"]["brokers"] > 1
    interval_s: float = settings.get("ping_interval_ms", BrokerConfig.ping_interval_ms) / 1000
    links: int = len(configuration["topology"]["links"])
    pings: float = 2.0 * links * seconds / interval_s if settings.get("monitoring", True) and interval_s else 0.0
    searched = SEARCHED if several else 0.0
    return updates + requests * (1.0 + searched) + pings


def pace(known: Iterable[tuple[float, float]]) -> float | None:
    """Exchanges a second, of runs that were simulated: pairs of exchanges expected and seconds of processor taken.

    ``None`` where there are none.
    """
    paces = [expected / computed_s for expected, computed_s in known if computed_s > 0]
    return median(paces) if paces else None
