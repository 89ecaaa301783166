"""What goes wrong on purpose while a run measures: brokers killed, links cut, slow, lossy or worse. Pure.

Counterparts: ``overlay.faults.churn`` sends brokers away by chance; ``overlay.sim.engine`` carries both out in virtual
time, ``overlay.runtime.deployment_runner`` and ``overlay.runtime.link_faults`` among processes;
``overlay.faults.fault_documents`` reads them. A fault is a document of a configuration, its times in seconds from the
beginning of measuring::

    {"what": "kill", "brokers": [3], "at_s": 5, "until_s": 20}            down from 5 s; started again, empty, at 20 s
    {"what": "restart", "brokers": [3], "at_s": 5}                         killed, and started again at once
    {"what": "partition", "islands": [[0, 1], [2, 3]], "at_s": 5}          nothing passes between them, to the end
    {"what": "slow", "links": [[0, 1]], "delay_ms": 200, "at_s": 5, "until_s": 9}
    {"what": "lossy", "links": "all", "loss": 0.2, "at_s": 5, "until_s": 9}
    {"what": "impaired", "links": [[0, 1]], "duplication": 0.25, "rate_bytes_per_s": 20000, "at_s": 5}
    {"what": "impaired", "links": [[1, 0]], "one_way": true, "partition": true, "at_s": 5}   1 hears 0, 0 not 1

A link that is impaired does all that ``overlay.core.links.LinkShape`` knows, and of its fields at least one is said. A
fault of links strikes both directions; with ``one_way`` only what the first broker of each pair sends to the second.

Faults that overlap compose: what links do is laid over what they did (``overlay.core.link_shapes``), so that delays add
up and each loss strikes what the others let through; a broker is down while any fault keeps it down. What no fault
touches any more is exactly as it was before. Clients reach every broker of every island: a partition is one of the
overlay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.link_shapes import in_words, laid_over
from overlay.core.links import CLEAR, Link, LinkShape
from overlay.core.settings import describe
from overlay.faults.churn import CRASH, HAPPENED, UP, Change, Churn

KILL, RESTART, PARTITION, SLOW, LOSSY, IMPAIRED = "kill", "restart", "partition", "slow", "lossy", "impaired"
OF_LINKS = (SLOW, LOSSY, IMPAIRED)
BEGAN, ENDED = "fault_began", "fault_ended"
"""How a journal calls the two ends of a fault."""

MAX_FAULTS = 200
Ends = tuple[int, int]
"""The two brokers of a link, the lower index first."""

Direction = tuple[int, int]
"""One of the two ways over a link: which broker sends, and which one receives."""

SHAPES: Mapping[str, tuple[str, ...]] = {
    SLOW: ("delay_ms",),
    LOSSY: ("loss",),
    IMPAIRED: tuple(info.name for info in describe(LinkShape)),
}
"""By kind, what it may say of its links."""

NAMED = 3
"""A label names as many brokers; of more it says how many there are."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong."""

    what: str
    at_s: float
    """Seconds after the beginning of measuring, as below."""
    until_s: float | None = None
    """``None``: to the end of the run."""
    brokers: tuple[int, ...] = ()
    islands: tuple[tuple[int, ...], ...] = ()
    links: frozenset[Ends] | frozenset[Direction] | None = None
    """``None`` is all of them; directions where it is one way."""
    one_way: bool = False
    shape: LinkShape = CLEAR
    """What they do beside what they do anyway."""

    @property
    def label(self) -> str:
        """What a chart writes beside its mark."""
        if self.what in (KILL, RESTART):
            done = "killed" if self.what == KILL else "restarted"
            return f"{_named(self.brokers)} {done}"
        if self.what == PARTITION:
            return f"partition into {len(self.islands)} islands"
        where = "all links" if self.links is None else f"{len(self.links)} link{'s' * (len(self.links) != 1)}"
        where += " one way" * self.one_way
        if self.what == SLOW:
            return f"{where} +{self.shape.delay_ms:g} ms"
        return f"{where} lossy ({100 * self.shape.loss:g} %)" if self.what == LOSSY else f"{where}: {self._said()}"

    def _said(self) -> str:
        return ("+" if self.shape.delay_ms else "") + in_words(self.shape)

    def strikes(self, way: Direction) -> bool:
        """Whether it is a fault of links, and strikes this direction."""
        known = way if self.one_way else (min(way), max(way))
        return self.what in OF_LINKS and (self.links is None or known in self.links)

    def to_json(self) -> dict[str, Any]:
        """The document again; ``read`` of it is equal."""
        document: dict[str, Any] = {"what": self.what, "at_s": self.at_s}
        if self.until_s is not None:
            document["until_s"] = self.until_s
        if self.what in (KILL, RESTART):
            return document | {"brokers": list(self.brokers)}
        if self.what == PARTITION:
            return document | {"islands": [list(island) for island in self.islands]}
        links = "all" if self.links is None else [list(ends) for ends in sorted(self.links)]
        said = {name: getattr(self.shape, name) for name in SHAPES[self.what]}
        if self.what == IMPAIRED:
            said = {name: value for name, value in said.items() if value != getattr(CLEAR, name)}
        return document | {"links": links} | ({"one_way": True} if self.one_way else {}) | said


def timeline(faults: Iterable[Fault]) -> list[dict[str, Any]]:
    """``[{at_s, until_s, label}]`` in the order of time, for charts to mark; ``until_s`` is ``None`` to the end."""
    ordered = sorted(faults, key=lambda fault: fault.at_s)
    return [{"at_s": fault.at_s, "until_s": fault.until_s, "label": fault.label} for fault in ordered]


# ---- carried out


@dataclass(frozen=True, slots=True)
class Due:
    """What a driver has to do now, and to report."""

    told: list[tuple[str, dict[str, Any]]]
    """Events for the journal: name and detail."""
    changes: list[Change]
    """Brokers that really go or come, in this order."""
    links_changed: bool
    """Whether links are to be laid again, by ``Course.shape`` and ``Course.partitions``."""


class Course:
    """How far the churn and the faults of a run have come; ``away`` is who is kept away by either."""

    def __init__(self, churn: Sequence[Change], faults: Sequence[Fault], measuring_s: float) -> None:
        """``measuring_s`` is when measuring begins, and all times here count from the start of the workload."""
        self._churn = Churn(churn)
        self._faults = faults
        begins = [(measuring_s + fault.at_s, 1, index) for index, fault in enumerate(faults)]
        ends = [(measuring_s + f.until_s, 0, index) for index, f in enumerate(faults) if f.until_s is not None]
        self._turns = sorted(begins + ends)
        """(when, whether it begins, which fault): of two at one instant the one that ends goes first."""
        self._next = 0
        self.active: set[int] = set()
        """Which of the faults there are now."""
        self.away: set[int] = set()

    def due(self, at_s: float) -> Due:
        """What is to happen now, ``at_s`` after the start of the workload, and has not been told before."""
        churned, turned = self._churn.due(at_s), self._turn(at_s)
        told: list[tuple[str, dict[str, Any]]] = [(HAPPENED[one.what], {"broker": one.broker}) for one in churned]
        told += [(BEGAN if begins else ENDED, _detail(fault)) for fault, begins in turned]
        struck = dict.fromkeys((broker for fault, begins in turned if begins for broker in fault.brokers), CRASH)
        struck |= {one.broker: one.what for one in churned if one.what != UP}
        before, self.away = self.away, self._churn.away | self._down()
        went = [Change(at_s, broker, what) for broker, what in sorted(struck.items()) if broker not in before]
        came = [Change(at_s, broker, UP) for broker in sorted((before | struck.keys()) - self.away)]
        links_changed = any(fault.what in (PARTITION, *OF_LINKS) for fault, _ in turned)
        return Due(told, went + came, links_changed)

    def next_s(self) -> float | None:
        """When something is due next; ``None`` when nothing is left."""
        turns = [self._turns[self._next][0]] if self._next < len(self._turns) else []
        churned = self._churn.next_s()
        return min(turns if churned is None else [*turns, churned], default=None)

    def partitions(self) -> list[tuple[tuple[int, ...], ...]]:
        """The islands of each partition that there is now. Nothing passes that any of them forbids."""
        return [self._faults[index].islands for index in sorted(self.active) if self._faults[index].islands]

    def shape(self, link: Link, *, back: bool = False) -> LinkShape:
        """What ``link`` does now to what broker ``a`` sends to ``b``, or ``back`` from ``b`` to ``a``."""
        way = (link.b, link.a) if back else (link.a, link.b)
        return shape_under(link.shape(), way, [self._faults[index] for index in sorted(self.active)])

    def _turn(self, at_s: float) -> list[tuple[Fault, bool]]:
        turned = []
        while self._next < len(self._turns) and self._turns[self._next][0] <= at_s:
            _, begins, index = self._turns[self._next]
            (self.active.add if begins else self.active.discard)(index)
            turned.append((self._faults[index], bool(begins)))
            self._next += 1
        return turned

    def _down(self) -> set[int]:
        kills = (self._faults[index] for index in self.active if self._faults[index].what == KILL)
        return {broker for fault in kills for broker in fault.brokers}


def shape_under(base: LinkShape, way: Direction, faults: Sequence[Fault]) -> LinkShape:
    """What a direction that does ``base`` does under ``faults``; a partition is not one of the link."""
    return laid_over(base, [fault.shape for fault in faults if fault.strikes(way)])


def are_separated(a: int, b: int, faults: Iterable[Fault]) -> bool:
    """Whether some partition puts the two brokers on different islands."""
    for fault in faults:
        of_a, of_b = (next((i for i, one in enumerate(fault.islands) if broker in one), None) for broker in (a, b))
        if of_a is not None and of_b is not None and of_a != of_b:
            return True
    return False


def _detail(fault: Fault) -> dict[str, Any]:
    return {"label": fault.label, **fault.to_json()}


def _named(brokers: Collection[int]) -> str:
    if len(brokers) > NAMED:
        return f"{len(brokers)} brokers"
    return f"broker{'s' * (len(brokers) != 1)} {', '.join(map(str, sorted(brokers)))}"
