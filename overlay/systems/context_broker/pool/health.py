"""Which brokers of a network answer, how fast, and in which order they are asked about an entity."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import inf

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.wire.messages import Key

NEAR_NS = 20 * MILLISECOND
"""Brokers whose round trips differ by less are equally near: the noise of a busy machine does not move entities."""
WEIGHT = 8
"""A new round trip counts as one part in this many of the average."""
REST_NS = SECOND // 2
MOST_REST_NS = 30 * SECOND
"""A silent broker is tried again after the first, then after twice as long each time, up to the second."""


class Broker:
    """What is known of one."""

    __slots__ = ("failures", "nearness", "round_trip_ns", "try_again_at")

    def __init__(self) -> None:
        self.round_trip_ns: float | None = None
        self.nearness = 0
        """0 if it is less than ``NEAR_NS`` farther than the nearest one, then one more for each doubling."""
        self.failures = 0
        """In a row; above 0 it is set aside."""
        self.try_again_at = 0


class Health:
    """The brokers that were asked recently. Nanoseconds throughout."""

    def __init__(self) -> None:
        self._brokers: dict[Address, Broker] = {}
        self._nearest_ns = inf
        self._is_even = True
        """Whether no broker is set aside or farther than another, so that the order of an entity is kept."""

    def heard(self, broker: Address, took: int | None) -> None:
        """It answered, after ``took`` if the answer needed no other broker."""
        known = self._brokers.get(broker)
        if known is None:
            known = self._brokers[broker] = Broker()
        is_news, known.failures = bool(known.failures), 0
        if took is not None:
            average = known.round_trip_ns
            known.round_trip_ns = average = took if average is None else average + (took - average) / WEIGHT
            is_news = is_news or average < self._nearest_ns or self._nearness(average) != known.nearness
        if is_news:
            self._look()

    def failed(self, broker: Address, now: int, *, is_ping: bool = False) -> None:
        """It was silent, or its host reports a closed port. Of requests that fail together the first counts."""
        known = self._brokers.setdefault(broker, Broker())
        if known.failures and not is_ping:
            return
        known.try_again_at = now + min(REST_NS << min(known.failures, 10), MOST_REST_NS)
        known.failures += 1
        self._look()

    def is_aside(self, broker: Address) -> bool:
        """Whether it is asked after all others."""
        known = self._brokers.get(broker)
        return known is not None and known.failures > 0

    def to_try(self, now: int) -> Sequence[Address]:
        """Brokers set aside that are to be pinged now. Each is named once per rest."""
        if self._is_even:
            return ()
        due = [(broker, one) for broker, one in self._brokers.items() if one.failures and one.try_again_at <= now]
        for _, one in due:
            one.try_again_at = now + MOST_REST_NS  # until its ping has an outcome
        return [broker for broker, _ in due]

    def order(self, key: Key, brokers: tuple[Address, ...], holder: Address | None = None) -> Sequence[Address]:
        """All of them: the one known to have the entity, then those that answer, nearest first; among equals the
        entity's own order, in which each broker comes first for an equal share of all entities."""
        ordered: Sequence[Address] = own_order(key, brokers)
        if not self._is_even:
            ordered = sorted(ordered, key=self._rank)
        if holder is None or holder == ordered[0] or holder not in brokers or self.is_aside(holder):
            return ordered
        return [holder, *(one for one in ordered if one != holder)]

    def keep(self, brokers: Collection[Address]) -> None:
        """Forget all others."""
        self._brokers = {broker: one for broker, one in self._brokers.items() if broker in brokers}
        self._look()

    def _rank(self, broker: Address) -> tuple[bool, int]:
        known = self._brokers.get(broker)
        return (False, 0) if known is None else (known.failures > 0, known.nearness)

    def _nearness(self, round_trip_ns: float) -> int:
        return int((round_trip_ns - self._nearest_ns) / NEAR_NS).bit_length()

    def _look(self) -> None:
        """Compare all, after one has changed by enough."""
        round_trips = [one.round_trip_ns for one in self._brokers.values() if one.round_trip_ns is not None]
        self._nearest_ns = min(round_trips, default=inf)
        for one in self._brokers.values():
            one.nearness = 0 if one.round_trip_ns is None else self._nearness(one.round_trip_ns)
        self._is_even = not any(one.failures or one.nearness for one in self._brokers.values())

    def check_invariants(self) -> None:
        assert self._is_even == all(self._rank(broker) == (False, 0) for broker in self._brokers)
        assert all(one.failures >= 0 and one.nearness >= 0 for one in self._brokers.values())


@lru_cache(maxsize=8192)
def own_order(key: Key, brokers: tuple[Address, ...]) -> tuple[Address, ...]:
    """An entity's order of brokers by highest random weight: one broker less moves only the entities that it led."""
    return tuple(sorted(brokers, key=lambda one: blake2b(repr((key, one)).encode()).digest()))
