"""SUBTABLE and REGTABLE of flooded rows, in as many messages as it takes: a version may have several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from overlay.core.node import NEVER
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.messages import Whole
from overlay.systems.federation.wire.values import Entry, Subscription, SubscriptionId, Summary

T = TypeVar("T")
K = TypeVar("K")


@dataclass(slots=True)
class Known(Generic[T]):
    version: tuple[int, int]
    """Of entries, the registration and the version; of subscriptions, 0 and the version."""
    row: T | None
    """``None``: withdrawn."""
    until: int = NEVER
    """ms since 1970."""
    source: str = ""
    """The neighbour that told it first; empty once it was sent back there, too."""


class FloodSending:
    def __init__(self, station: Station) -> None:
        self._station = station
        self._peers, self._counters = station.peers, station.counters

    def subscriptions(
        self, brokers: Iterable[str], version: int, added: Sequence[Subscription], removed: Sequence[SubscriptionId]
    ) -> None:
        self._send(brokers, added, lambda rows: m.SubTable(version, Whole.CHANGES, tuple(rows)))
        self._send(brokers, removed, lambda sids: m.SubTable(version, Whole.CHANGES, (), tuple(sids)))
        if self._station.tracer is not None:
            for broker in brokers:
                self._station.tracer.told(broker, added, self._station.now)

    def entries(self, brokers: Iterable[str], version: int, added: Sequence[Entry], removed: Sequence[str]) -> None:
        nothing = Summary()
        self._send(brokers, added, lambda rows: m.RegTable(version, Whole.CHANGES, tuple(rows), (), nothing))
        self._send(brokers, removed, lambda ids: m.RegTable(version, Whole.CHANGES, (), tuple(ids), nothing))

    def everything(
        self,
        broker: str,
        entries: Mapping[str, Known[Entry]],
        subscriptions: Mapping[SubscriptionId, Known[Subscription]],
    ) -> None:
        """A client's entry comes before its subscriptions."""
        for version, several in _by_version(entries).items():
            added = [known.row for _, known in several if known.row is not None]
            self.entries([broker], version, added, [name for name, known in several if known.row is None])
        for version, of in _by_version(subscriptions).items():
            live = [known.row for _, known in of if known.row is not None]
            self.subscriptions([broker], version, live, [sid for sid, known in of if known.row is None])

    def _send(self, brokers: Iterable[str], rows: Sequence[T], message: Callable[[Sequence[T]], m.Message]) -> None:
        if not rows:
            return
        one = message(rows)
        data = self._peers.encoded(one)
        if data is not None:
            self._peers.send_encoded(brokers, type(one), data)
        elif len(rows) > 1:
            half = len(rows) // 2
            self._send(brokers, rows[:half], message)
            self._send(brokers, rows[half:], message)
        else:
            self._counters["rows_too_large"] += 1


def _by_version(table: Mapping[K, Known[T]]) -> dict[int, list[tuple[K, Known[T]]]]:
    found: dict[int, list[tuple[K, Known[T]]]] = {}
    for id, known in table.items():
        found.setdefault(known.version[1], []).append((id, known))
    return found
