"""The gateways, and which of them are active (contract, section 5; measures, edge cases)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from overlay.core.addresses import Address
from overlay.systems.contextnet.poa.ranks import Load
from overlay.systems.contextnet.records.records import Amount, HelloPoa, LoadReport

MOST_GATEWAYS: Final = 255
"""As many as a list can have."""
MOST_REPORTS: Final = 60
"""Of a gateway, that count together in a round."""


@dataclass(slots=True)
class Gateway:
    address: Address
    incarnation: int
    capacity: int
    """Its limit of connections; 0: it is to be empty."""
    seen: int
    """When it last showed that it runs, ns."""
    reports: list[LoadReport] = field(default_factory=list)
    """Since the last round; at least the newest there is."""

    @property
    def connections(self) -> int:
        return self.reports[-1].connections if self.reports else 0

    @property
    def load(self) -> Load:
        """The means of a round, since a single report is noisy."""
        reports = self.reports
        if not reports:
            return Load(0.0, 0.0, 0.0, 0, self.capacity)
        return Load(
            fmean(one.cpu for one in reports),
            fmean(min(1.0, one.pool_used / max(1, one.pool_size)) for one in reports),
            fmean(_used(one.memory) for one in reports),
            fmean(one.connections for one in reports),
            self.capacity,
        )


class Gateways:
    """A load report counts for some periods, and so does the hello of a gateway that has just started."""

    def __init__(self, lasts_ns: int, most_reports: int = MOST_REPORTS) -> None:
        """``most_reports``: of a gateway, that count together in a round; at least 1."""
        self._lasts_ns, self._most_reports = lasts_ns, most_reports
        self._known: dict[str, Gateway] = {}
        """Those silent for the longest first."""

    def is_active(self, name: str, now: int) -> bool:
        return name in self._known and now < self._until(self._known[name])

    def hello(self, hello: HelloPoa, seen: int) -> bool:
        """Returns whether it has started since its last one."""
        former = self._known.get(hello.gateway)
        if former is not None and hello.incarnation < former.incarnation:
            return False
        is_new = former is None or hello.incarnation > former.incarnation
        found = Gateway(hello.address, hello.incarnation, hello.capacity, seen)
        if former is not None and not is_new:
            found.reports, found.seen = former.reports, max(seen, former.seen)
        self._put(hello.gateway, found)
        return is_new

    def load(self, report: LoadReport, seen: int) -> None:
        """Of a gateway without a hello, nothing can be said: its address is not known."""
        found = self._known.get(report.gateway)
        if found is not None:
            found.reports = [*found.reports, report][-self._most_reports :]
            found.seen = max(seen, found.seen)
            self._put(report.gateway, found)

    def _put(self, name: str, found: Gateway) -> None:
        self._known.pop(name, None)
        self._known[name] = found
        if len(self._known) > MOST_GATEWAYS:
            del self._known[next(iter(self._known))]

    def begin_round(self) -> None:
        """Loads are those of a new round from now on."""
        for found in self._known.values():
            del found.reports[:-1]

    def active(self, now: int) -> dict[str, Gateway]:
        """In the order of their names."""
        return {name: self._known[name] for name in sorted(self._known) if self.is_active(name, now)}

    def next_lapse(self, names: Iterable[str]) -> int | None:
        """When the next one of these stops to be active."""
        return min((self._until(self._known[name]) for name in names if name in self._known), default=None)

    def _until(self, found: Gateway) -> int:
        return found.seen + self._lasts_ns

    def check_invariants(self) -> None:
        assert len(self._known) <= MOST_GATEWAYS


def _used(memory: Amount) -> float:
    return min(1.0, max(0.0, 1 - memory.free / memory.total)) if memory.total else 0.0
