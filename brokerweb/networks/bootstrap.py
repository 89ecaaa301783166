"""The bootstrap list of a network: addresses through which clients and brokers find their way in (seed 000, 3.4.3).

Counterpart: ``overlay.load.choice`` ranks. Every server of ``entrances`` that runs is pinged for the list, at most once
a second for all that ask; load is that of the latest probes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from brokerweb.kit.follower_cache import Following
from brokerweb.networks.entrances import entrances
from brokerweb.networks.models import UP, Network
from brokerweb.networks.probes import FEW_SECONDS
from brokerweb.networks.probing import pinged, probe_file
from overlay.core.addresses import Address, parse_address
from overlay.deployment.rollout import RUNNING
from overlay.load.choice import Candidate, Wish, ranked
from overlay.systems.registry import SYSTEMS

HEALTHY, SILENT, DOWN = "healthy", "silent", "down"
"""Health: it answers a ping; it runs and does not answer; no process runs, or it does not run yet. A broker that has
started since the last round of pings is silent until the next one."""
RENEW_S, RENEW_SOON_S = 30, 5
"""When to fetch the list again: if all brokers are healthy, or not."""
FRESH_S = 1.0
DEADLINE_S = 1.0
"""Of a round of pings; a list with a silent broker takes half of it."""
KEPT = 32
"""Maximum networks whose last pings are remembered."""
MOST_LOADS = 200
"""Of larger networks the load is not read: each broker costs 0.1 ms."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One broker of a list."""

    index: int
    address: str
    health: str
    state: str
    round_trip_us: float | None
    load_per_s: float | None
    place: tuple[float, float] | None

    @property
    def candidate(self) -> Candidate:
        took = None if self.round_trip_us is None else self.round_trip_us / 1000
        return Candidate(parse_address(self.address), took, self.load_per_s, self.place)


@dataclass(frozen=True, slots=True)
class List:
    """``entries``: the healthy ones, the best first, then the others by index."""

    entries: Sequence[Entry]
    checked_s: float
    """When the brokers were pinged, Unix time."""
    renew_after_s: int

    @property
    def text(self) -> str:
        """One ``host:port`` a line: the healthy ones."""
        return "".join(f"{entry.address}\n" for entry in self.entries if entry.health == HEALTHY)


class _Check:
    """The last pings to the brokers of one network."""

    def __init__(self) -> None:
        self._lock = Lock()  # not that of all networks, whose clients would wait for a silent broker of this one
        self._at = -FRESH_S
        self._found: tuple[Mapping[int, float | None], float] = {}, 0.0

    def look(self, network: Network) -> tuple[Mapping[int, float | None], float]:
        """Round trips by broker, µs, and when they were measured, Unix time."""
        with self._lock:
            if time.monotonic() - self._at >= FRESH_S:
                self._found = pinged(SYSTEMS[network.system], _up(network), DEADLINE_S), time.time()
                self._at = time.monotonic()
            return self._found


_checks: Following[tuple[str, int, int], _Check] = Following(KEPT)


def bootstrap_list(network: Network, wish: Wish) -> List:
    """The list for a client that wants ``wish``."""
    took, checked_s = _pings(network)
    loads, places = _loads(network), network.deployed.get("positions") or ()
    is_up = network.state in UP
    entries = [_entry(row, took, loads, places, is_up=is_up) for row in entrances(network) if row.get("address")]
    healthy = {parse_address(entry.address): entry for entry in entries if entry.health == HEALTHY}
    best = [healthy[one.address] for one in ranked((entry.candidate for entry in healthy.values()), wish)]
    others = sorted((entry for entry in entries if entry.health != HEALTHY), key=lambda entry: entry.index)
    wanted = {row["index"] for row in entrances(network) if row.get("wanted", RUNNING) == RUNNING}
    is_calm = bool(best) and wanted <= {entry.index for entry in best}
    return List([*best, *others], checked_s, RENEW_S if is_calm else RENEW_SOON_S)


def _pings(network: Network) -> tuple[Mapping[int, float | None], float]:
    if network.state not in UP or network.system not in SYSTEMS:
        return {}, time.time()
    key = network.pk, network.epoch, network.version
    check = _checks.look(key, _Check, lambda check: check)
    return check.look(network)


def _up(network: Network) -> dict[int, Address]:
    return {
        row["index"]: parse_address(row["address"])
        for row in entrances(network)
        if row.get("state") == "up" and row.get("address")
    }


def _entry(
    row: Mapping[str, Any],
    took: Mapping[int, float | None],
    loads: Mapping[int, float],
    places: Sequence[Sequence[float]],
    *,
    is_up: bool,
) -> Entry:
    index, state = row["index"], row["state"]
    round_trip = took.get(index)
    health = HEALTHY if round_trip is not None else SILENT if is_up and state == "up" else DOWN
    place = (places[index][0], places[index][1]) if index < len(places) else None
    return Entry(index, row["address"], health, state, round_trip, loads.get(index), place)


def _loads(network: Network) -> dict[int, float]:
    """The latest load of each broker, known on the network's host only."""
    up = _up(network)
    if len(up) > MOST_LOADS:
        return {}
    return probe_file(network).last(FEW_SECONDS, up, "load_per_s", time.time())
