"""What the server answers, as dataclasses. ``raw`` has everything, also fields that this version does not know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import datetime
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, get_type_hints

from waxwing import frames
from waxwing.errors import UnexpectedAnswer

if TYPE_CHECKING:
    import pandas

Raw = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Record:
    """Base of all. A field that the server left out (``fields=id,state``) has its default."""

    raw: Raw = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, raw: Raw, **more: Any) -> Self:
        """Read the JSON of an answer; ``more`` are values from elsewhere, such as a header."""
        if not isinstance(raw, Mapping):
            raise UnexpectedAnswer(
                f"Expected a {cls.__name__}, got {str(raw)[:80]!r}. Is it Waxwing that answers there?"
            )
        hints = _hints(cls)  # type: ignore[arg-type]  # a class is hashable
        known = {one.name: _read(one, hints[one.name], raw[one.name]) for one in fields(cls) if one.name in raw}
        return cls(**{**known, **more, "raw": raw})

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = ((one.name, getattr(self, one.name)) for one in fields(self) if one.repr)
        body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(_shown(value))}</td></tr>" for name, value in rows)
        return f"<table><caption>{escape(type(self).__name__)}</caption>{body}</table>"


T = TypeVar("T", bound=Record)


class Records(list[T], Generic[T]):
    """A list of records."""

    def to_frame(self) -> pandas.DataFrame:
        """One row each, with all fields of the answer; nested ones as ``figures.p95``. Needs ``waxwing[pandas]``."""
        return frames.flat([one.raw for one in self])

    def _repr_html_(self) -> str:
        """For notebooks."""
        if not self:
            return "<p>none</p>"
        names = [one.name for one in fields(self[0]) if one.repr]
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        rows = ("".join(f"<td>{escape(_shown(getattr(record, name)))}</td>" for name in names) for record in self[:100])
        more = f"<p>and {len(self) - 100:,} more</p>" if len(self) > 100 else ""
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{more}"


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    text = "" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:199]}…"


@cache
def _hints(cls: Any) -> Mapping[str, Any]:
    return get_type_hints(cls)


def _read(one: Field[Any], hint: Any, value: Any) -> Any:
    inner = one.metadata.get("of")
    if inner is not None and value is not None:
        return tuple(map(inner.of, value))
    if value is None:
        return _default(one) if type(None) not in getattr(hint, "__args__", ()) else None
    if isinstance(value, str) and (hint is datetime or datetime in getattr(hint, "__args__", ())):
        return datetime.fromisoformat(value)
    return tuple(value) if isinstance(value, list) else value


def _default(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


@dataclass(frozen=True, kw_only=True)
class Broker(Record):
    """A broker (or other server) of a network."""

    index: int = 0
    address: str = ""
    """``host:port``"""
    state: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Bridge(Record):
    """A process that connects a network with an MQTT server. ``raw`` has its patterns and settings."""

    number: int = 0
    mqtt: str = ""
    """URL of the server."""
    state: str = ""
    """connected, connecting, failed, stopped"""
    reason: str = ""
    since: datetime | None = None
    counters: Raw = field(default_factory=dict)
    """messages_in, messages_out, refused, loops_prevented"""


@dataclass(frozen=True, kw_only=True)
class Network(Record):
    """A network that stays up."""

    id: str = ""
    name: str = ""
    system: str = ""
    state: str = ""
    """starting, running, degraded, stopping, stopped, failed"""
    reason: str = ""
    topology: str | None = None
    version: int = 0
    brokers: tuple[Broker, ...] = field(default=(), repr=False, metadata={"of": Broker})
    created: datetime | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """``host:port`` of the brokers that are up, for ``waxwing.udp``."""
        return tuple(one.address for one in self.brokers if one.state == "up")


@dataclass(frozen=True, kw_only=True)
class Context(Record):
    """Data about a scope of an entity."""

    type: str = ""
    entity: str = ""
    scope: str = ""
    provider: str = ""
    payload: Raw | None = None
    """``None`` if the text is not made of pairs."""
    text: str = ""
    valid_begin: datetime | None = None
    valid_end: datetime | None = None
    age_ms: int = 0
    """Since its provider sent it."""
    broker: str = ""
    broker_index: int = 0
    hops: int | None = None
    """``None`` if only a trace can tell."""
    strategy: str = ""
    walk: str | None = None
    etag: str = ""
    """Of the stored value, for ``if_match`` and ``if_none_match``."""


@dataclass(frozen=True, kw_only=True)
class Stored(Record):
    """The answer to a ``put``."""

    broker: str = ""
    broker_index: int = 0
    valid_begin: datetime | None = None
    valid_end: datetime | None = None
    etag: str = ""


@dataclass(frozen=True, kw_only=True)
class Result(Record):
    """The outcome of one operation of a batch, or of a ``delete``. ``raw`` has what the single request would have."""

    status: int = 0
    field: str = ""
    code: str = ""
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class Topology(Record):
    id: str = ""
    name: str = ""
    kind: str = ""
    brokers: int = 0
    version: int = 0
    measures: Raw = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class Experiment(Record):
    id: str = ""
    name: str = ""
    system: str = ""
    engine: str = ""
    replicates: int = 0
    seed: int = 0
    thresholds: tuple[str, ...] = ()
    runs: Mapping[str, int] = field(default_factory=dict)
    """Number of runs by state."""
    created: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Launch(Record):
    """Runs that were created. ``skipped``: those that were run already (``skip_existing``)."""

    runs: tuple[str, ...] = ()
    count: int = 0
    estimated_s: float = 0.0
    skipped: tuple[Raw, ...] = ()
    experiment: str = ""

    @property
    def all_runs(self) -> tuple[str, ...]:
        """The new runs, and the finished ones that stand for those that were skipped."""
        return (*self.runs, *(str(one["run"]) for one in self.skipped))


@dataclass(frozen=True, kw_only=True)
class Run(Record):
    id: str = ""
    experiment: str = ""
    experiment_name: str = ""
    topology: str = ""
    replicate: int = 0
    state: str = ""
    """queued, launching, warming, measuring, collecting, done, failed, cancelled"""
    progress: float = 0.0
    eta_s: float | None = None
    reason: str = ""
    waiting_for: str = field(default="", repr=False)
    verdict: str = ""
    """valid, or suspect"""
    passed: bool | None = None
    """Whether it met the experiment's thresholds; ``None`` if it has none, or is not finished."""
    figures: Mapping[str, float | None] = field(default_factory=dict, repr=False)
    """Its measures by name, in their units."""
    summary: Raw = field(default_factory=dict, repr=False)
    created: datetime | None = None
    ended_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        return self.state in OVER


@dataclass(frozen=True, kw_only=True)
class Judged(Record):
    """The thresholds of one run, as the server judges them."""

    run: str = ""
    state: str = ""
    passed: bool | None = None
    """``None`` if the run is not done."""
    thresholds: tuple[Raw, ...] = ()
    """``text``, ``value``, ``held``, ``why`` of each."""


@dataclass(frozen=True, kw_only=True)
class Report(Record):
    id: str = ""
    kind: str = ""
    state: str = ""
    """queued, running, done, failed"""
    reason: str = ""
    progress: str = ""
    runs: tuple[str, ...] = field(default=(), repr=False)
    experiments: tuple[str, ...] = ()
    charts: tuple[Raw, ...] = field(default=(), repr=False)
    configurations: tuple[Raw, ...] = field(default=(), repr=False)
    created: datetime | None = None

    @property
    def is_over(self) -> bool:
        return self.state in OVER


@dataclass(frozen=True, kw_only=True)
class Study(Record):
    id: str = ""
    system: str = ""
    title: str = ""
    question: str = ""
    experiment: str | None = None
    scale: str | None = None
    verdicts: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Raw, ...] = field(default=(), repr=False)


OVER = ("done", "failed", "cancelled")


def all_of(kind: type[T], rows: Iterable[Raw]) -> Records[T]:
    return Records(map(kind.of, rows))
