"""Faults of a run: killed servers; links that are cut, slow, lossy or otherwise impaired; faults of a system. Pure.

Counterparts: ``overlay.faults.churn`` for random departures; ``overlay.sim.engine`` applies both in virtual
time, ``overlay.runtime.deployment_runner`` and ``overlay.runtime.link_faults`` to processes;
``overlay.faults.fault_documents`` reads them. A fault is part of a configuration, with times in seconds from the
start of measuring::

    {"what": "kill", "brokers": [3], "at_s": 5, "until_s": 20}            down from 5 s; restarted, empty, at 20 s
    {"what": "restart", "brokers": [3], "at_s": 5}                         killed and restarted at once
    {"what": "partition", "islands": [[0, 1], [2, 3]], "at_s": 5}          no datagrams between them, to the end
    {"what": "slow", "links": [[0, 1]], "delay_ms": 200, "at_s": 5, "until_s": 9}
    {"what": "lossy", "links": "all", "loss": 0.2, "at_s": 5, "until_s": 9}
    {"what": "impaired", "links": [[0, 1]], "duplication": 0.25, "rate_bytes_per_s": 20000, "at_s": 5}
    {"what": "impaired", "links": [[1, 0]], "one_way": true, "partition": true, "at_s": 5}   1 hears 0, 0 not 1

``impaired`` accepts all fields of ``overlay.core.links.LinkShape``, and needs at least one of them. A fault of links
affects both directions; with ``one_way`` only datagrams from the first to the second broker of each pair.

``brokers`` and numbers are nodes of the topology, which are the first servers. Any server can also be named, and named
servers need no link in the topology to have one in a fault::

    {"what": "kill", "servers": ["directory-0"], "at_s": 5, "until_s": 20}
    {"what": "partition", "islands": [[0, 1], ["directory-0"]], "at_s": 5}
    {"what": "slow", "links": [["gateway-0", "log-0"]], "delay_ms": 200, "at_s": 5}

Other kinds are a system's own (``overlay.faults.kinds``). They have ``brokers``, ``servers`` or ``clients`` as targets,
and drivers tell these when the fault begins and ends.

Overlapping faults are combined (``overlay.core.link_shapes``): delays add
up, and each loss applies to the datagrams that the others spared. A broker is down while any fault keeps it down. When
no fault affects a link or broker any more, it is exactly as before. Clients reach every broker of every island, because
a partition only affects the overlay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.link_shapes import in_words, laid_over
from overlay.core.links import CLEAR, Link, LinkShape
from overlay.core.settings import describe
from overlay.faults.churn import CRASH, HAPPENED, UP, Change, Churn
from overlay.faults.kinds import FaultKind

KILL, RESTART, PARTITION, SLOW, LOSSY, IMPAIRED = "kill", "restart", "partition", "slow", "lossy", "impaired"
OF_LINKS = (SLOW, LOSSY, IMPAIRED)
BEGAN, ENDED = "fault_began", "fault_ended"
"""The names of the events in a journal."""

MAX_FAULTS = 200
Ends = tuple[int, int]
"""The two brokers of a link, the lower index first."""

Direction = tuple[int, int]
"""One direction of a link: the sender and the receiver."""

SHAPES: Mapping[str, tuple[str, ...]] = {
    SLOW: ("delay_ms",),
    LOSSY: ("loss",),
    IMPAIRED: tuple(info.name for info in describe(LinkShape)),
}
"""By kind: the permitted settings of links."""

NAMED = 3
"""A label names up to this many servers and clients; otherwise it has their number."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault."""

    what: str
    at_s: float
    """Seconds from the start of measuring, as below."""
    until_s: float | None = None
    """``None``: to the end of the run."""
    servers: tuple[int, ...] = ()
    """Indices of servers, as below."""
    islands: tuple[tuple[int, ...], ...] = ()
    links: frozenset[Ends] | frozenset[Direction] | None = None
    """``None``: all links of the topology. Directions if the fault is one-way."""
    one_way: bool = False
    shape: LinkShape = CLEAR
    """Impairments in addition to the links' own."""
    named: Mapping[int, str] = field(default_factory=dict)
    """The names of the servers that the document names instead of numbering them."""
    clients: tuple[str, ...] = ()
    """Names of clients, in a fault of a system."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The other fields of a fault of a system."""
    kind: FaultKind | None = None
    """The kind of a fault of a system."""

    @property
    def label(self) -> str:
        """The label of its marker in charts."""
        if self.kind is not None:
            title = f"{self.kind.title[:1].lower()}{self.kind.title[1:]}"
            return f"{self._targets()}: {title}" if self.servers or self.clients else title
        if self.what in (KILL, RESTART):
            done = "killed" if self.what == KILL else "restarted"
            return f"{self._targets()} {done}"
        if self.what == PARTITION:
            return f"partition into {len(self.islands)} islands"
        where = "all links" if self.links is None else f"{len(self.links)} link{'s' * (len(self.links) != 1)}"
        where += " one way" * self.one_way
        if self.what == SLOW:
            return f"{where} +{self.shape.delay_ms:g} ms"
        return f"{where} lossy ({100 * self.shape.loss:g} %)" if self.what == LOSSY else f"{where}: {self._said()}"

    def _said(self) -> str:
        return ("+" if self.shape.delay_ms else "") + in_words(self.shape)

    def _targets(self) -> str:
        numbered = [server for server in self.servers if server not in self.named]
        if len(self.servers) + len(self.clients) > NAMED:
            counts = ((len(self.servers), "server" if self.named else "broker"), (len(self.clients), "client"))
            return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts if count)
        brokers = f"broker{'s' * (len(numbered) != 1)} {', '.join(map(str, sorted(numbered)))}"
        return ", ".join([*[brokers] * bool(numbered), *self._names(), *self.clients])

    def _names(self) -> list[str]:
        return [self.named[server] for server in self.servers if server in self.named]

    @property
    def lasts(self) -> bool:
        """Whether it can end."""
        return self.what != RESTART and (self.kind is None or self.kind.lasts)

    @property
    def moves(self) -> bool:
        """Whether its targets get another port."""
        return self.kind is not None and self.kind.moves

    def seen_by(self, moved: Address | None) -> dict[str, Any]:
        """The document for a target, with the address to which it has ``moved``."""
        return self.to_json() if moved is None else self.to_json() | {"address": format_address(moved)}

    @property
    def is_of_log(self) -> bool:
        """Whether the driver of the log applies it, and its targets do not see it."""
        return self.kind is not None and self.kind.of_log

    @property
    def crashes(self) -> tuple[int, ...]:
        """The servers that it kills."""
        return self.servers if self.what in (KILL, RESTART) else ()

    def strikes(self, way: Direction, *, is_linked: bool = True) -> bool:
        """Whether it is a fault of links that affects this direction; ``is_linked``: of a link of the topology."""
        if self.what not in OF_LINKS:
            return False
        if self.links is None:
            return is_linked
        return (way if self.one_way else (min(way), max(way))) in self.links

    def to_json(self) -> dict[str, Any]:
        """The document; ``read`` of it is equal."""
        document: dict[str, Any] = {"what": self.what, "at_s": self.at_s}
        if self.until_s is not None:
            document["until_s"] = self.until_s
        if self.what in (KILL, RESTART) or self.kind is not None:
            numbered = [server for server in self.servers if server not in self.named]
            targets = {"brokers": numbered, "servers": self._names(), "clients": list(self.clients)}
            return document | {name: found for name, found in targets.items() if found} | dict(self.values)
        if self.what == PARTITION:
            return document | {"islands": [self._written(island) for island in self.islands]}
        links = "all" if self.links is None else [self._written(ends) for ends in sorted(self.links)]
        said = {name: getattr(self.shape, name) for name in SHAPES[self.what]}
        if self.what == IMPAIRED:
            said = {name: value for name, value in said.items() if value != getattr(CLEAR, name)}
        return document | {"links": links} | ({"one_way": True} if self.one_way else {}) | said

    def _written(self, servers: Iterable[int]) -> list[int | str]:
        return [self.named.get(server, server) for server in servers]


def timeline(faults: Iterable[Fault]) -> list[dict[str, Any]]:
    """``[{at_s, until_s, label}]`` in chronological order, for markers in charts; ``until_s`` is ``None`` for the
    end."""
    ordered = sorted(faults, key=lambda fault: fault.at_s)
    return [{"at_s": fault.at_s, "until_s": fault.until_s, "label": fault.label} for fault in ordered]


# ---- applying


@dataclass(frozen=True, slots=True)
class Due:
    """Actions and events that are due."""

    events: list[tuple[str, dict[str, Any]]]
    """Events for the journal: name and detail."""
    changes: list[Change]
    """Brokers that actually leave or return, in this order."""
    links_changed: bool
    """Whether links must be set again, by ``Course.shape`` and ``Course.partitions``."""
    of_system: list[tuple[Fault, bool]] = field(default_factory=list)
    """Faults of the system that begin (true) or end, for their targets."""


class Course:
    """The progress of the churn and the faults of a run; ``away`` contains the brokers kept down by either."""

    def __init__(self, churn: Sequence[Change], faults: Sequence[Fault], measuring_s: float) -> None:
        """``measuring_s`` is the start of measuring. All times here are from the start of the workload."""
        self._churn = Churn(churn)
        self._faults = faults
        begins = [(measuring_s + fault.at_s, 1, index) for index, fault in enumerate(faults)]
        ends = [(measuring_s + f.until_s, 0, index) for index, f in enumerate(faults) if f.until_s is not None]
        self._turns = sorted(begins + ends)
        """(time, whether it begins, index of the fault). At the same instant, ends come before beginnings."""
        self._next = 0
        self.active: set[int] = set()
        """The active faults."""
        self.away: set[int] = set()

    def due(self, at_s: float) -> Due:
        """Everything due at ``at_s`` after the start of the workload. Each action is returned once."""
        churned, turned = self._churn.due(at_s), self._turn(at_s)
        events: list[tuple[str, dict[str, Any]]] = [(HAPPENED[one.what], {"broker": one.broker}) for one in churned]
        events += [(BEGAN if begins else ENDED, _detail(fault)) for fault, begins in turned]
        struck = dict.fromkeys((broker for fault, begins in turned if begins for broker in fault.crashes), CRASH)
        struck |= {one.broker: one.what for one in churned if one.what != UP}
        before, self.away = self.away, self._churn.away | self._down()
        went = [Change(at_s, broker, what) for broker, what in sorted(struck.items()) if broker not in before]
        came = [Change(at_s, broker, UP) for broker in sorted((before | struck.keys()) - self.away)]
        links_changed = any(fault.what in (PARTITION, *OF_LINKS) for fault, _ in turned)
        of_system = [(fault, begins) for fault, begins in turned if fault.kind is not None]
        return Due(events, went + came, links_changed, of_system)

    def next_s(self) -> float | None:
        """The time of the next action, or ``None``."""
        turns = [self._turns[self._next][0]] if self._next < len(self._turns) else []
        churned = self._churn.next_s()
        return min(turns if churned is None else [*turns, churned], default=None)

    def partitions(self) -> list[tuple[tuple[int, ...], ...]]:
        """The islands of each active partition. A datagram passes only if none of them forbids it."""
        return [self._faults[index].islands for index in sorted(self.active) if self._faults[index].islands]

    def shape(self, link: Link, *, back: bool = False) -> LinkShape:
        """The current shape of ``link`` for datagrams from broker ``a`` to ``b``, or with ``back`` from ``b`` to
        ``a``."""
        return self.shape_of((link.b, link.a) if back else (link.a, link.b), link.shape())

    def shape_of(self, way: Direction, base: LinkShape, *, is_linked: bool = True) -> LinkShape:
        """The same for any direction with its own shape ``base``."""
        return shape_under(base, way, [self._faults[index] for index in sorted(self.active)], is_linked=is_linked)

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
        return {server for fault in kills for server in fault.crashes}


def shape_under(base: LinkShape, way: Direction, faults: Sequence[Fault], *, is_linked: bool = True) -> LinkShape:
    """The shape of a direction with its own shape ``base`` under ``faults``, without partitions."""
    return laid_over(base, [fault.shape for fault in faults if fault.strikes(way, is_linked=is_linked)])


def unlinked(faults: Iterable[Fault], links: Iterable[Ends]) -> set[Direction]:
    """The directions that faults affect by name although the topology, which has these ``links``, has no link there."""
    named = {pair for fault in faults for pair in fault.links or () if fault.named}
    known = frozenset(links) if named else frozenset()
    return {way for a, b in named if (min(a, b), max(a, b)) not in known for way in ((a, b), (b, a))}


def are_separated(a: int, b: int, faults: Iterable[Fault]) -> bool:
    """Whether any partition puts the two brokers on different islands."""
    for fault in faults:
        of_a, of_b = (next((i for i, one in enumerate(fault.islands) if broker in one), None) for broker in (a, b))
        if of_a is not None and of_b is not None and of_a != of_b:
            return True
    return False


def _detail(fault: Fault) -> dict[str, Any]:
    return {"label": fault.label, **fault.to_json()}
