"""The fleet of a workload at modelled brokers."""

from __future__ import annotations

from typing import Any

from overlay.core.node import SECOND
from overlay.journal.facts import Row
from overlay.load.windows import Windows
from overlay.systems.silbops.load.fleet import Fleet
from overlay.systems.silbops.load.plans import plan_clients
from overlay.systems.silbops.load.times import schedule
from overlay.systems.silbops.rows import TABLES
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.workload import Workload
from tests.silbops.clients.world import Wire, World

WAYS = ("127.0.0.1", 1)


class Driven:
    """A client of a fleet as the world drives it. Its facts are kept."""

    def __init__(self, life: Any) -> None:
        self.life, self.id, self.facts = life, life.plan.id, list[Any]()

    def receive_datagrams(self, datagrams: Any, now: int) -> None:
        self.life.receive_datagram(0, b"", WAYS, now)
        self.facts += self.life.facts()

    def handle_timer(self, now: int) -> None:
        self.life.handle_timer(now)
        self.facts += self.life.facts()

    def next_timer(self) -> int | None:
        found: int | None = self.life.next_timer()
        return found

    def check_invariants(self) -> None:
        self.life.core.check_invariants()


class FleetWorld(World):
    def __init__(self, workload: Workload, brokers: int = 1, seed: int = 1, **settings: Any) -> None:
        super().__init__(brokers)
        self.windows = Windows.of(schedule(workload, 0), 0, 0)
        self.fleet = Fleet(
            plan_clients(workload, brokers),
            [WAYS] * brokers,
            Settings(**settings),
            workload,
            self.windows,
            seed=seed,
            wall_offset_ns=0,
            make_wire=self._make_wire,
        )
        self.terms = self.fleet.clients[0].shared.terms
        self.clients = [Driven(one) for one in self.fleet.clients]  # type: ignore[misc]

    def _make_wire(self, id: bytes, chance: Any) -> Wire:
        self.wires.append(Wire(self))
        return self.wires[-1]

    def finish(self) -> None:
        """To the end of draining."""
        self.wait((self.windows.drained - self.now) / SECOND)
        for driven in self.clients:
            driven.life.abandon(self.now)  # type: ignore[attr-defined]
            driven.facts += driven.life.facts()  # type: ignore[attr-defined]

    def facts(self, kind: type) -> list[Any]:
        return [fact for driven in self.clients for fact in driven.facts if isinstance(fact, kind)]  # type: ignore[attr-defined]

    def rows(self, kind: type) -> list[Any]:
        found = [TABLES[row.table](*row.values) for row in self.facts(Row)]
        return [one for one in found if isinstance(one, kind)]
