"""Phases, outages, new addresses and contexts, drawn from the seed. Each node and purpose has a stream of its own.

Times are nanoseconds after the start of measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import cos, log, sin, tau
from typing import NamedTuple

import msgpack

from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.node import SECOND
from overlay.systems.contextnet.workload import EXPONENTIAL, FIXED, WEIBULL_SHAPE, Workload

_GAMMA_OF_MEAN = 1.2658235060572833
"""Γ(1 + 1/0.7): the mean of a Weibull distribution with scale 1."""


class Place(NamedTuple):
    """km."""

    x: float
    y: float


class Draws:
    def __init__(self, workload: Workload, seed: int) -> None:
        self._workload, self._seed = workload, seed
        chance = self.stream("disconnecting")
        self.disconnecting = frozenset(chance.sample(range(workload.nodes), workload.disconnecting))
        """Numbers of the nodes that are off from time to time."""

    def stream(self, *purpose: object) -> Stream:
        return Stream(derive_seed(self._seed, "contextnet", *purpose))

    def due(self, direction: str, node: int) -> Iterator[int]:
        """When the messages of a node in one direction are due."""
        interval = nanoseconds(self._workload.interval_s)
        first = self.stream("phase", direction, node).randrange(interval)
        return (first + number * interval for number in range(self._workload.count))

    def outages(self, node: int) -> Iterator[tuple[int, int]]:
        """When a node goes off and returns. None begins after the end of measuring."""
        workload = self._workload
        if node not in self.disconnecting:
            return
        chance, off, end = self.stream("outages", node), nanoseconds(workload.off_s), nanoseconds(workload.measured_s)
        on = _law(workload)
        at = -round(chance.random() * nanoseconds(workload.on_s + workload.off_s))
        while (gone := at + on(chance)) < end:
            at = gone + off
            if at > 0:
                yield max(gone, 0), at

    def moves(self, node: int) -> Iterator[int]:
        """When a node gets another address."""
        return self._poisson("addresses", node, self._workload.address_change_per_h / 3_600)

    def changes(self, node: int) -> Iterator[int]:
        """When its context changes."""
        return self._poisson("changes", node, self._workload.context_change_per_min / 60)

    def casts(self, application: int) -> Iterator[int]:
        """When an application sends to a group."""
        per_s = self._workload.groupcast_per_min / 60 / self._workload.application_count
        return self._poisson("casts", application, per_s)

    def pauses(self, application: int) -> Iterator[tuple[int, int]]:
        """When an application stops, and when it goes on; without end."""
        workload, at = self._workload, 0
        chance = self.stream("pauses", application)
        while workload.app_pause_s:
            begin = at + exponential(chance, nanoseconds(workload.app_pause_every_s))
            at = begin + exponential(chance, nanoseconds(workload.app_pause_s))
            yield begin, at

    def values(self, node: int) -> Iterator[list[int]]:
        """Those of its context by definer, without end: the first ones, and after each change."""
        chance, workload = self.stream("contexts", node), self._workload
        values = [chance.randrange(workload.groups) for _ in range(workload.definers)]
        while True:
            yield list(values)
            if values:
                values[chance.randrange(len(values))] = chance.randrange(workload.groups)

    def places(self, node: int) -> Iterator[Place]:
        """Where a node is when it tells its context, without end if nodes drive: at first, and at each change.

        It drives straight on from one to the next, turns by at most an eighth then, and is reflected at the edges.
        """
        side, speed = self._workload.square_km, self._workload.speed_kmh / 3_600
        if not side:
            return
        chance, before = self.stream("places", node), 0
        x, y, heading = side * chance.random(), side * chance.random(), tau * chance.random()
        yield Place(x, y)
        for at in self.changes(node):
            way = speed * (at - before) / SECOND
            x, y = _reflected(x + way * cos(heading), side), _reflected(y + way * sin(heading), side)
            heading += (chance.random() - 0.5) * tau / 4
            before = at
            yield Place(x, y)

    def region(self, place: Place) -> int:
        """The number of the region of a place, as a group of the first definer."""
        cell, across = self._workload.region_km, self._workload.regions_across
        column, row = (min(int(value / cell), across - 1) for value in place)
        return row * across + column

    def _poisson(self, purpose: str, node: int, per_s: float) -> Iterator[int]:
        if not per_s:
            return
        chance, at, end = self.stream(purpose, node), 0, nanoseconds(self._workload.measured_s)
        while (at := at + exponential(chance, nanoseconds(1 / per_s))) < end:
            yield at


@lru_cache(maxsize=4)
def draws(workload: Workload, seed: int) -> Draws:
    """Shared by the fleets of one process."""
    return Draws(workload, seed)


def region_name(region: int, across: int) -> str:
    """As ``groups.selection.ByRegion`` names it: ``2:0``."""
    return f"{region % across}:{region // across}"


def _reflected(value: float, side: float) -> float:
    """Within 0 and ``side``, without the latter."""
    value %= 2 * side
    return min(value if value < side else 2 * side - value, side * (1 - 1e-12))


@lru_cache(maxsize=256)
def _context(values: tuple[int, ...], size: int) -> bytes:
    found = {field_name(definer): value for definer, value in enumerate(values)}
    bare = len(msgpack.packb({**found, "pad": b""}))
    data: bytes = msgpack.packb({**found, "pad": bytes(max(0, size - bare))})
    return data


def context(values: list[int], size: int, place: Place | None = None) -> bytes:
    """A map with a field for each definer, of about ``size`` bytes. The first one's are x and y if there is a place."""
    if place is None:
        return _context(tuple(values), size)
    found = {**place._asdict(), **{field_name(definer): value for definer, value in enumerate(values) if definer}}
    bare = len(msgpack.packb({**found, "pad": b""}))
    data: bytes = msgpack.packb({**found, "pad": bytes(max(0, size - bare))})
    return data


def field_name(definer: int) -> str:
    """The field of a context that a definer makes groups of."""
    return f"f{definer}"


def nanoseconds(seconds: float) -> int:
    return round(seconds * SECOND)


def exponential(chance: Chance, mean: int) -> int:
    """At least 1."""
    return 1 + round(-log(1 - chance.random()) * mean)


def _law(workload: Workload) -> Callable[[Chance], int]:
    """How long a node is on."""
    mean = nanoseconds(workload.on_s)
    if workload.on_law == FIXED:
        return lambda chance: mean
    if workload.on_law == EXPONENTIAL:
        return lambda chance: exponential(chance, mean)
    scale = mean / _GAMMA_OF_MEAN
    return lambda chance: 1 + round(scale * (-log(1 - chance.random())) ** (1 / WEIBULL_SHAPE))
