"""Probes the networks of this host: a ping to every broker each second, and load and memory every five seconds.

Runs as a thread of ``manage.py livefeed``, of which each host has one. Rejected: the supervisor, because a thousand
answers would delay the start of brokers; the web process, of which there may be several or none. The kernel timestamps
answers, so the load of this process does not affect them. Brokers answer pings at once: the time is the broker's
reaction time plus the round trip. Searches are not measured.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import close_old_connections

from brokerweb.networks.load_polling import LoadSampler
from brokerweb.networks.models import UP, Network
from brokerweb.networks.probes import LOOKS, SECONDS, Probes, Tier
from brokerweb.networks.seconds import Second
from brokerweb.networks.sweep import ask_all
from brokerweb.networks.thinning import Thinning
from overlay.core.addresses import Address, parse_address
from overlay.deployment.rollout import RUNNING
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS
from telemetry.systems.registry import telemetry_of

log = logging.getLogger(__name__)

ROUND_S = 1.0
LOOK_S = 5
"""Between two polls of load and memory. More often costs more: each reads process data of every broker."""
DEADLINE_S = 0.9
"""Timeout of a round of pings."""

K = TypeVar("K", bound=Hashable)


def probe_file(network: Network) -> Probes:
    """The file of the time series of ``network``."""
    return Probes(Path(settings.VAR) / "networks" / network.pk / "series", gauges_of(network))


def gauges_of(network: Network) -> tuple[str, ...]:
    """Gauges of its system that its time series have."""
    charts = telemetry_of({"system": network.system}).network_series
    return tuple(line.column for chart in charts for view in chart.views for line in view.lines)


def pinged(system: System, brokers: Mapping[K, Address], deadline_s: float = DEADLINE_S) -> dict[K, float | None]:
    """Response time of a ping by server, µs; ``None`` without an answer. Every server is asked."""

    def read(data: bytes) -> bool | None:
        return system.answers_ping(data) or None

    answers = ask_all(brokers.values(), lambda: system.ping(time.time_ns() // 1_000_000), read, deadline_s)
    return {key: answers[address].took_us if address in answers else None for key, address in brokers.items()}


class _Followed:
    """The time series of one network that is being written."""

    def __init__(self, network: Network) -> None:
        self.file = probe_file(network)
        self._thinning = Thinning(self.file)
        self._glance = LoadSampler()
        self._gauges = gauges_of(network)
        self._second = Second(self._gauges)
        self._at_s = 0

    def take(self, probes: Mapping[int, float | None]) -> None:
        for broker, took_us in probes.items():
            self._second.take_probe(broker, took_us)

    def look(self, network: Network) -> None:
        seen = self._glance.look(network)
        memories = {row["index"]: row["uss_bytes"] for row in seen["memory"]["brokers"]}
        for row in seen["load"]["brokers"]:
            own = {
                **{name: row.get(name) for name in (*LOOKS, *self._gauges)},
                "private_bytes": memories.get(row["index"]),
            }
            self._second.take_look(row["index"], own)

    def close_second(self, now_s: int, brokers: Sequence[int]) -> dict[Tier, list[int]]:
        """Write what was measured in the second before ``now_s``, Unix time, and the steps that ended; returns the
        begins of the latter. Raises ``OSError``.
        """
        if now_s == self._at_s:
            return {}
        at_s, self._at_s = self._at_s, now_s
        if found := self._second.closed():
            self.file.write(SECONDS, at_s, found)
        return self._thinning.go_on(now_s, brokers)


Heard = Callable[[Network, Probes, Mapping[Tier, Sequence[int]]], None]
"""Gets a network, its series and the begins of the steps that were written, by tier."""


class Prober:
    """Probes the running networks of this host. ``heard`` is called when steps of a network were written, ``over``
    after each round.
    """

    def __init__(self, host: str, heard: Heard | None = None, over: Callable[[], None] | None = None) -> None:
        self._host = host
        self._heard, self._over = heard, over
        self._followed: dict[tuple[str, int, int], _Followed] = {}
        self._looked_in = -1

    def round(self) -> None:
        """One ping to each broker, and a poll of load and memory if due."""
        networks = {
            (network.pk, network.epoch, network.version): network
            for network in Network.objects.filter(host=self._host, state__in=UP)
            if network.system in SYSTEMS
        }
        self._followed = {key: self._followed.get(key) or _Followed(network) for key, network in networks.items()}
        for key, followed in self._followed.items():
            self._close(followed, networks[key])
        probes: dict[tuple[str, int, int], dict[int, float | None]] = {key: {} for key in networks}
        by_system = groupby(sorted(networks, key=lambda key: networks[key].system), lambda key: networks[key].system)
        present = {name: list(keys) for name, keys in by_system}
        for name, keys in present.items():
            addresses = {
                (key, row["index"]): parse_address(row["address"])
                for key in keys
                for row in networks[key].brokers
                if row.get("address") and row.get("wanted", RUNNING) == RUNNING  # not one that was drained
            }
            for (key, index), took_us in pinged(SYSTEMS[name], addresses, DEADLINE_S / len(present)).items():
                probes[key][index] = took_us
        step = int(time.time()) // LOOK_S
        is_due, self._looked_in = step != self._looked_in, step
        for key, followed in self._followed.items():
            followed.take(probes[key])
            if is_due:
                followed.look(networks[key])
        if self._over is not None:
            self._over()

    def _close(self, followed: _Followed, network: Network) -> None:
        brokers = [row["index"] for row in network.brokers]
        try:
            steps = followed.close_second(int(time.time()), brokers)
            if steps and self._heard is not None:
                self._heard(network, followed.file, steps)
        except OSError as error:
            log.warning("probe results of a network were not written: %s", error)


class Probing(threading.Thread):
    """A round each second until the process exits."""

    def __init__(self, heard: Heard | None = None, over: Callable[[], None] | None = None) -> None:
        super().__init__(name="probing", daemon=True)
        self._prober = Prober(settings.HOST_NAME, heard, over)

    def run(self) -> None:
        while True:
            began = time.monotonic()
            close_old_connections()
            try:
                self._prober.round()
            except Exception as error:  # noqa: BLE001  a locked database must not end the only one who measures
                log.warning("networks were not probed this second: %s", error)
            finally:
                close_old_connections()
            time.sleep(max(0.05, ROUND_S - (time.monotonic() - began)))
