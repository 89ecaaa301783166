"""The facts of a run that its measures are made of. Times are µs since the zero of the deployment."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from overlay.core.processes import role_of
from overlay.journal.facts import Connection, Delivery, Event, Fact, HandOver, Row, Sample, Tick
from overlay.systems.contextnet.names import GATEWAY, NODE
from overlay.systems.contextnet.rows import TABLES, Planned, read_entity

MEASURING, DRAINING = "measuring", "draining"
"""Phases of a run."""
FAULT_BEGAN = "fault_began"
FAULT_ENDS = (FAULT_BEGAN, "fault_ended")


class Due(NamedTuple):
    """A message that was due while measuring."""

    id: str
    node: int
    """From which or for which it is."""
    order: int
    """Among those of this node and direction, from 0."""
    is_inbound: bool
    outcome: str
    """``answered``, ``refused`` or ``timed_out``."""
    intended_us: int
    ended_us: int

    @property
    def rtt_us(self) -> int:
        return self.ended_us - self.intended_us

    @property
    def is_answered(self) -> bool:
        return self.outcome == "answered"


@dataclass(slots=True)
class Facts:
    due: list[Due] = field(default_factory=list)
    rows: dict[type, list[Any]] = field(default_factory=lambda: defaultdict(list))
    ticks: dict[str, list[Tick]] = field(default_factory=lambda: defaultdict(list))
    """By process."""
    events: list[Event] = field(default_factory=list)
    """All but the begins of phases."""
    phases: dict[str, int] = field(default_factory=dict)
    """The begin of each phase."""
    moves: list[HandOver] = field(default_factory=list)
    casts: list[Delivery] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Facts:
        found = cls()
        for fact in facts:
            found.add(fact)
        return found

    def add(self, fact: Fact) -> None:
        if isinstance(fact, Sample):
            self.add_sample(fact.role, fact.phase, fact.outcome, fact.intended_us, fact.ended_us, fact.entity)
        elif isinstance(fact, Row):
            self.add_row(TABLES[fact.table](*fact.values))
        elif isinstance(fact, Tick):
            self.ticks[fact.process].append(fact)
        elif isinstance(fact, Event):
            self._add_event(fact)
        elif isinstance(fact, HandOver):
            self.moves.append(fact)
        elif isinstance(fact, Delivery):
            self.casts.append(fact)
        elif isinstance(fact, Connection):
            self.connections.append(fact)

    def add_sample(self, role: str, phase: str, outcome: str, intended_us: int, ended_us: int, entity: str) -> None:
        if phase == MEASURING:
            self.due.append(Due(*read_entity(entity), role == NODE, outcome, intended_us, ended_us))

    def add_row(self, value: Any) -> None:
        """A row of ``rows.TABLES``."""
        self.rows[type(value)].append(value)

    def _add_event(self, event: Event) -> None:
        if event.name == "phase":
            self.phases.setdefault(event.detail["phase"], event.at_us)
        else:
            self.events.append(event)

    # ---- what was planned

    @property
    def disconnecting(self) -> frozenset[int]:
        return frozenset(node for one in self.rows[Planned] for node in one.disconnecting)

    @property
    def plan(self) -> Planned:
        return next(iter(self.rows[Planned]), Planned([], 10, []))

    # ---- when

    @property
    def begin_us(self) -> int:
        """The start of measuring; 0 if it is unknown."""
        return self.phases.get(MEASURING, 0)

    @property
    def measured_us(self) -> float:
        """The end of measuring; infinite if it is unknown."""
        return self.phases.get(DRAINING, float("inf"))

    @property
    def end_us(self) -> float:
        """The last instant that anything is known of; infinite if there is none."""
        ticks = (one.at_us for known in self.ticks.values() for one in known[-1:])
        return max((*ticks, *(event.at_us for event in self.events)), default=float("inf"))

    def is_measured(self, at_us: float) -> bool:
        return self.begin_us <= at_us <= self.measured_us

    # ---- counters

    def of_role(self, role: str) -> list[Sequence[Tick]]:
        """The ticks of each process of these."""
        return [self.ticks[process] for process in sorted(self.ticks) if role_of(process) == role]

    def gateways(self) -> list[Sequence[Tick]]:
        return self.of_role(GATEWAY)

    def grown(self) -> Counter[str]:
        """What the counters of all processes grow by from the start of measuring to the end of the run."""
        total = Counter[str]()
        for ticks in self.ticks.values():
            before = last(ticks, self.begin_us)
            known = {} if before is None else before.counters
            if ticks:
                total.update({name: max(0, value - known.get(name, 0)) for name, value in ticks[-1].counters.items()})
        return total


def last(ticks: Sequence[Tick], until_us: float) -> Tick | None:
    """The last tick until then."""
    place = bisect_right(ticks, until_us, key=lambda tick: tick.at_us)
    return ticks[place - 1] if place else None
