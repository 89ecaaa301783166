"""What a study is. Pure, but for reading its definition's file.

::

    definition ── runs ──> Row, Row, ...   one for each configuration and seed
                             │ Plot.values, Claim.measure   once for each seed
                             v
                           quantities ── intervals over seeds ──> values next to the published ones, verdicts

Some make their rows themselves, by ``Study.measure`` instead of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from overlay.core.engines import SIMULATED
from overlay.experiment.files import parse_definition
from telemetry.errors import TelemetryError
from telemetry.statistics.intervals import LOG, Scale
from telemetry.studies.criteria import Interval, Shown

QUICK, PAPER = "quick", "paper"
SCALES = (QUICK, PAPER)
"""Minutes, and all that the paper has."""
IN_PROCESS = "in process"
WAYS = {
    SIMULATED: "simulated, not measured live",
    IN_PROCESS: "measured in one process, without messages on a network",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One collected run, or one row of a published table."""

    topology: str
    """Its kind: ``ring``."""
    brokers: int
    settings: Mapping[str, Any]
    workload: Mapping[str, Any]
    measures: Mapping[str, float]
    """By name, as ``measures_of`` of the registry has them, in their units; without what was not measured."""
    seed: int = 0
    configuration: str = ""
    """Its hash; empty for a published row."""
    faults: Sequence[Mapping[str, Any]] = ()
    """Their documents."""

    def get(self, name: str) -> Any:
        """``topology``, ``brokers``, or a field of the workload or a setting. Raises ``KeyError``."""
        if name in ("topology", "brokers"):
            return getattr(self, name)
        return self.workload[name] if name in self.workload else self.settings[name]


Rows = Sequence[Row]
Quantity = float | tuple[float, float]
"""A value; on the scale of shares with the number of requests that it is a share of."""
Quantities = Mapping[str, Quantity]
X = float | str


def where(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """The rows whose fields are these; a tuple names several values."""
    return [
        row
        for row in rows
        if all(row.get(name) in (value if isinstance(value, tuple) else (value,)) for name, value in wanted.items())
    ]


def mean(rows: Iterable[Row], measure: str) -> float:
    """Over all of the rows. Raises ``KeyError`` where there is none, or where one of them lacks the measure."""
    values = [row.measures[measure] for row in rows]
    if not values:
        raise KeyError(measure)
    return fmean(values)


def pooled(rows: Iterable[Row], measure: str, of: str = "requests") -> tuple[float, float]:
    """A share over all of the rows, with the number of requests that it is of."""
    pairs = [(row.measures[measure], row.measures[of]) for row in rows]
    count = sum(made for _, made in pairs)
    if not count:
        raise KeyError(measure)
    return sum(share * made for share, made in pairs) / count, count


@dataclass(frozen=True, slots=True)
class Source:
    """Where a published value or statement is from."""

    place: str
    """Figure, table or section: ``Table B.1, configurations 247 to 251``."""
    line: str = ""
    """Of the seed's text."""
    quote: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement, when it counts as reproduced, and what is looked at."""

    id: str
    claim: str
    """In the paper's sense."""
    criterion: str
    """When it is reproduced, in a sentence."""
    shape: str
    """What is enough for ``shape only``."""
    measure: Callable[[Rows], Quantities]
    """What is looked at, in one seed's runs. Raises ``KeyError`` where a run is missing."""
    judge: Callable[[Mapping[str, Interval]], tuple[Shown, Shown]]
    """Whether the criterion holds, and whether the shape does."""
    written: str
    """When the criterion was, and what was known by then."""
    unit: str = "ratio"
    scale: Scale = LOG
    published: Mapping[str, float] = field(default_factory=dict)
    """In addition to what ``measure`` finds in the study's published rows."""
    source: Source | None = None
    called: Mapping[str, Callable[[Mapping[str, Interval]], Shown]] = field(default_factory=dict)
    """Names of what ``not`` may be, such as ``reversed``, and when it is."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Of quantities whose unit is not ``unit``, by the beginnings of their names."""

    def unit_of(self, quantity: str) -> str:
        return next((unit for begin, unit in self.units.items() if quantity.startswith(begin)), self.unit)


@dataclass(frozen=True)
class Plot:
    """Values that are shown next to the published ones and drawn, and not judged."""

    id: str
    title: str
    x: Mapping[str, Any]
    """An axis of ``telemetry.charts``."""
    y: Mapping[str, Any]
    values: Callable[[Rows], Mapping[tuple[str, X], Quantity]]
    """By series and x, in one seed's runs, in the y axis's unit."""
    scale: Scale = LOG
    source: Source | None = None

    @property
    def unit(self) -> str:
        return str(self.y["unit"]) or "number"


Measured = tuple[Mapping[str, Any], Mapping[str, float]]
"""A configuration, and its measures by name: those of its system, and the study's own."""
Measure = Callable[[Sequence[Mapping[str, Any]], int], Iterable[Measured]]


def nothing_published() -> Rows:
    return ()


def nothing_told(result: Any) -> Sequence[str]:
    return ()


def as_written(body: dict[str, Any]) -> dict[str, Any]:
    return body


@dataclass(frozen=True)
class Study:
    """One question, and all that is needed to answer it again."""

    id: str
    """``4.3``, ``E0.1``: one of all systems."""
    title: str
    question: str
    definition: Path
    """A definition as YAML, at the paper's scale; under ``quick`` what differs at that scale."""
    plots: tuple[Plot, ...]
    claims: tuple[Claim, ...]
    says: str = ""
    """What the paper says, in its sense; empty where it says nothing."""
    sources: tuple[Source, ...] = ()
    """Each is kept once."""
    published: Callable[[], Rows] = nothing_published
    """What was published, as rows, which are reduced as runs are."""
    limits: tuple[str, ...] = ()
    """What a reader must know of the values, a sentence each."""
    tell: Callable[[Any], Sequence[str]] = nothing_told
    """Makes sentences of a ``judging.Result``."""
    names: tuple[str, ...] = ()
    """Presets of its system's contract of which it has the runs: other names of the study."""
    system: str = ""
    """Set by the registry."""
    fill: Callable[[dict[str, Any]], dict[str, Any]] = as_written
    """Fills in what its definition leaves open, such as rates by what a broker bears. Equal on every machine."""

    measure: Measure | None = None
    """Measures all configurations of a replicate in this process, by its seed, instead of simulating each. Such a study
    is for the command line."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(dict.fromkeys(self.sources)))

    @property
    def way(self) -> str:
        """How its values come about: a key of ``WAYS``."""
        return SIMULATED if self.measure is None else IN_PROCESS

    def at(self, scale: str) -> dict[str, Any]:
        """Its definition at that scale, as an experiment's body with its topologies inline."""
        return self.fill(_at(self.definition, scale))

    @property
    def quick_differs(self) -> str:
        """In what ``quick`` is less, as its definition says it."""
        return str(_read(self.definition).get("quick_is", ""))


def _read(path: Path) -> dict[str, Any]:
    try:
        return parse_definition(path.read_bytes())
    except OSError as error:
        raise TelemetryError(f"The study's definition {path} cannot be read: {error.strerror}.") from None


def _at(path: Path, scale: str) -> dict[str, Any]:
    body = _read(path)
    body.pop("quick_is", "")
    quick = body.pop(QUICK, {})
    if scale == PAPER:
        return body
    groups = {name: {**body.get(name, {}), **quick[name]} for name in ("settings", "workload") if name in quick}
    return {**body, **quick, **groups}
