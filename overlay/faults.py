"""What goes wrong on purpose while a run measures: brokers killed, links cut, slow or lossy. Pure.

Counterparts: ``overlay.churn`` sends brokers away by chance; ``overlay.sim.engine`` carries both out in virtual time.
A fault is a document of a configuration, its times in seconds from the beginning of measuring::

    {"what": "kill", "brokers": [3], "at_s": 5, "until_s": 20}            down from 5 s; started again, empty, at 20 s
    {"what": "restart", "brokers": [3], "at_s": 5}                         killed, and started again at once
    {"what": "partition", "islands": [[0, 1], [2, 3]], "at_s": 5}          nothing passes between them, to the end
    {"what": "slow", "links": [[0, 1]], "delay_ms": 200, "at_s": 5, "until_s": 9}
    {"what": "lossy", "links": "all", "loss": 0.2, "at_s": 5, "until_s": 9}

Faults that overlap compose: delays add up, each loss strikes what the others let through, a broker is down while any
fault keeps it down. What no fault touches any more is exactly as it was before. Clients reach every broker of every
island: a partition is one of the overlay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overlay.churn import CRASH, HAPPENED, UP, Change, Churn
from overlay.errors import InvalidSetting
from overlay.links import Link, LinkShape

KILL, RESTART, PARTITION, SLOW, LOSSY = "kill", "restart", "partition", "slow", "lossy"
BEGAN, ENDED = "fault_began", "fault_ended"
"""How a journal calls the two ends of a fault."""

MAX_FAULTS = 200
MAX_DELAY_MS = 60_000.0
"""Of a link with all that is added to it; the most that ``LinkShape`` takes."""

Ends = tuple[int, int]
"""The two brokers of a link, the lower index first."""

_OWN_FIELDS: Mapping[str, tuple[str, ...]] = {
    KILL: ("brokers",),
    RESTART: ("brokers",),
    PARTITION: ("islands",),
    SLOW: ("links", "delay_ms"),
    LOSSY: ("links", "loss"),
}
"""By kind, what a document says beside ``what``, ``at_s`` and ``until_s``; all of it is needed."""

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
    links: frozenset[Ends] | None = None
    """``None`` is all of them."""
    delay_ms: float = 0.0
    """Added to each datagram's one-way delay."""
    loss: float = 0.0
    """Share of datagrams lost, of those that the link itself lets through."""

    @property
    def label(self) -> str:
        """What a chart writes beside its mark."""
        if self.what in (KILL, RESTART):
            done = "killed" if self.what == KILL else "restarted"
            return f"{_named(self.brokers)} {done}"
        if self.what == PARTITION:
            return f"partition into {len(self.islands)} islands"
        where = "all links" if self.links is None else f"{len(self.links)} link{'s' * (len(self.links) != 1)}"
        return f"{where} +{self.delay_ms:g} ms" if self.what == SLOW else f"{where} lossy ({100 * self.loss:g} %)"

    def strikes(self, ends: Ends) -> bool:
        """Whether it is one of a link, and of this one."""
        return self.what in (SLOW, LOSSY) and (self.links is None or ends in self.links)

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
        return document | ({"links": links} | {name: getattr(self, name) for name in _OWN_FIELDS[self.what][1:]})


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
    """Whether links are to be laid anew, by ``Course.shape`` and ``Course.partitions``."""


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
        links_changed = any(fault.what in (PARTITION, SLOW, LOSSY) for fault, _ in turned)
        return Due(told, went + came, links_changed)

    def next_s(self) -> float | None:
        """When something is due next; ``None`` when nothing is left."""
        turns = [self._turns[self._next][0]] if self._next < len(self._turns) else []
        churned = self._churn.next_s()
        return min(turns if churned is None else [*turns, churned], default=None)

    def partitions(self) -> list[tuple[tuple[int, ...], ...]]:
        """The islands of each partition that there is now. Nothing passes that any of them forbids."""
        return [self._faults[index].islands for index in sorted(self.active) if self._faults[index].islands]

    def shape(self, link: Link) -> LinkShape:
        """What one direction of ``link`` does now."""
        return shape_under(link.shape(), link.ends, [self._faults[index] for index in sorted(self.active)])

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


def shape_under(base: LinkShape, ends: Ends, faults: Sequence[Fault]) -> LinkShape:
    """What a link that does ``base`` does under ``faults``; a partition is not one of the link."""
    striking = [fault for fault in faults if fault.strikes(ends)]
    if not striking:
        return base
    loss = base.loss
    for fault in striking:
        loss += (1 - loss) * fault.loss
    delay_ms = min(MAX_DELAY_MS, base.delay_ms + sum(fault.delay_ms for fault in striking))
    return replace(base, delay_ms=delay_ms, loss=min(1.0, loss))


def are_separated(a: int, b: int, faults: Iterable[Fault]) -> bool:
    """Whether some partition puts the two brokers on different islands."""
    for fault in faults:
        of_a, of_b = (next((i for i, one in enumerate(fault.islands) if broker in one), None) for broker in (a, b))
        if of_a is not None and of_b is not None and of_a != of_b:
            return True
    return False


def _detail(fault: Fault) -> dict[str, Any]:
    return {"label": fault.label, **fault.to_json()}


# ---- read


def read(documents: object, brokers: int, links: Iterable[Ends], duration_s: float) -> tuple[Fault, ...]:
    """The faults that ``documents`` describe of an overlay of ``brokers`` brokers with these links.

    Raises ``InvalidSetting`` with the dotted name of the first field that is wrong, missing or unknown.
    """
    if not isinstance(documents, list):
        raise InvalidSetting("faults", f"must be a list of objects, not {_shown(documents)}")
    if len(documents) > MAX_FAULTS:
        raise InvalidSetting("faults", f"are {len(documents)}; at most {MAX_FAULTS} are allowed")
    known = frozenset(links) if documents else frozenset()
    return tuple(
        _Reader(f"faults.{index}", brokers, known, duration_s).fault(document)
        for index, document in enumerate(documents)
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one document; ``field`` is what it is called in errors."""

    field: str
    brokers: int
    links: frozenset[Ends]
    duration_s: float

    def fault(self, document: object) -> Fault:
        if not isinstance(document, Mapping):
            raise InvalidSetting(self.field, f"must be an object, not {_shown(document)}")
        what = document.get("what")
        if not isinstance(what, str) or what not in _OWN_FIELDS:
            raise self._wrong("what", f"must be one of {', '.join(_OWN_FIELDS)}, not {_shown(what)}")
        own = _OWN_FIELDS[what]
        needed, optional = {"what", "at_s", *own}, set() if what == RESTART else {"until_s"}
        for name in sorted(needed - document.keys()):
            raise self._wrong(name, "is missing")
        for name in document:
            if name not in needed | optional:
                known = ", ".join(sorted(needed | optional))
                raise self._wrong(str(name)[:60], f"is unknown; “{what}” has {known}")
        at_s = self._number("at_s", document["at_s"], 0, self.duration_s)
        until_s = document.get("until_s")
        if until_s is not None:
            until_s = self._number("until_s", until_s, 0, self.duration_s)
            if until_s <= at_s:
                raise self._wrong("until_s", f"{until_s:g} s must be after at_s, {at_s:g} s")
        readers: dict[str, Callable[[object], Any]] = {
            "brokers": lambda value: self._indices("brokers", value),
            "islands": self._islands,
            "links": self._links,
            "delay_ms": lambda value: self._number("delay_ms", value, 0, MAX_DELAY_MS),
            "loss": lambda value: self._number("loss", value, 0, 1),
        }
        return Fault(what, at_s, until_s, **{name: readers[name](document[name]) for name in own})

    def _wrong(self, name: str, sentence: str) -> InvalidSetting:
        return InvalidSetting(f"{self.field}.{name}", sentence)

    def _number(self, name: str, value: object, low: float, high: float) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._wrong(name, f"must be a number, not {_shown(value)}")
        if not low <= value <= high:
            raise self._wrong(name, f"must be from {low:g} to {high:g}, not {_shown(value)}")
        return float(value)

    def _indices(self, name: str, value: object) -> tuple[int, ...]:
        """Brokers by index, at least one and each once."""
        if not isinstance(value, list) or not value or not all(map(self._is_broker, value)):
            raise self._wrong(name, f"must be a list of brokers from 0 to {self.brokers - 1}, not {_shown(value)}")
        if len(set(value)) < len(value):
            raise self._wrong(name, "names a broker twice")
        return tuple(value)

    def _is_broker(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < self.brokers

    def _islands(self, value: object) -> tuple[tuple[int, ...], ...]:
        if not isinstance(value, list) or len(value) < 2:
            raise self._wrong("islands", "must be a list of two or more lists of brokers")
        islands = tuple(self._indices(f"islands.{index}", island) for index, island in enumerate(value))
        if len({broker for island in islands for broker in island}) < sum(map(len, islands)):
            raise self._wrong("islands", "puts a broker on two islands")
        return islands

    def _links(self, value: object) -> frozenset[Ends] | None:
        if value == "all":
            return None
        if not isinstance(value, list) or not value:
            raise self._wrong("links", f"must be “all” or a list of pairs of brokers, not {_shown(value)}")
        return frozenset(self._ends(f"links.{index}", pair) for index, pair in enumerate(value))

    def _ends(self, name: str, pair: object) -> Ends:
        if not isinstance(pair, list) or len(pair) != 2 or not all(map(self._is_broker, pair)):
            raise self._wrong(name, f"must be a pair of brokers, not {_shown(pair)}")
        ends = min(pair), max(pair)
        if ends not in self.links:
            raise self._wrong(name, f"brokers {pair[0]} and {pair[1]} are not linked")
        return ends


def _named(brokers: Collection[int]) -> str:
    if len(brokers) > NAMED:
        return f"{len(brokers)} brokers"
    return f"broker{'s' * (len(brokers) != 1)} {', '.join(map(str, sorted(brokers)))}"


def _shown(value: object) -> str:
    return f"{value!r:.60}"
