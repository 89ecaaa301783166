"""The parameters in which configurations differ. Configurations never change, so each is read once and cached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brokerweb.experiments.models import Run
from brokerweb.kit.ids import in_chunks
from overlay.core.engines import SIMULATED
from overlay.systems.registry import RECORD, SYSTEMS, servers_title, settings_by_name
from telemetry.formatting import UNKNOWN, natural, shortened, words
from telemetry.lake.configurations import choose, vary
from telemetry.systems.registry import telemetry_of

MOST_KEPT = 5_000
"""Cached configurations, about 3 kB each."""
_TITLES = {RECORD.name: "Recording of {a_server}", "brokers": "{Servers}"}
"""Titles of names that are not readable, with what the servers are called."""
_PLAIN_UNITS = ("fraction", "hops", "brokers", "walks", "requests", "entries", "questions", "pings", "rounds", "tries")
"""Units that the parameter's name already contains."""


@dataclass(frozen=True)
class Configuration:
    """The compared values of one configuration, without its links."""

    hash: str
    factors: Mapping[str, Any]
    """By name; each value is a string, a number or a boolean."""
    said_by_profile: frozenset[str]
    """Settings with the values of its profile."""
    published: Mapping[str, float] | None
    """Published value by measure; ``None`` if not published."""

    @property
    def kind(self) -> str:
        return str(self.factors["kind"])

    @property
    def role(self) -> str:
        """As in ``telemetry.charts.charts``."""
        if self.factors["engine"] == SIMULATED:
            return "simulated"
        return "shaped" if self.factors["links"] else "measured"


@dataclass(frozen=True)
class Parameter:
    """A parameter in which configurations may differ."""

    name: str
    title: str
    unit: str
    values: tuple[Any, ...]
    """Sorted and unique; ``None`` for configurations without it."""
    is_number: bool = field(default=False)

    @property
    def axis(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


_kept: dict[str, Configuration] = {}


def known(representatives: Mapping[str, str]) -> dict[str, Configuration]:
    """Configurations by hash; ``representatives`` gives one run for each hash."""
    if len(_kept) > MOST_KEPT:
        _kept.clear()
    # Cached by run, not by hash: equal topologies may have different names. Looked up once each, because another thread
    # may evict entries in between.
    asked = {run: _kept.get(run) for run in representatives.values()}
    found = {run: one for run, one in asked.items() if one is not None}
    missing = [run for run in asked if run not in found]
    for some in in_chunks(missing):
        rows = Run.objects.filter(pk__in=some).order_by().values_list("pk", "configuration_hash", "configuration")
        for run, name, document in rows.iterator(chunk_size=20):
            found[run] = _kept[run] = _read(name, document)
    return {found[run].hash: found[run] for run in representatives.values() if run in found}


def _read(name: str, document: Mapping[str, Any]) -> Configuration:
    run = choose({"run": name, "configuration": document}, {})
    row = telemetry_of(document).same_published(run.configuration)
    said = frozenset(one for one in run.settings if run.is_said_by_profile(one))
    return Configuration(name, run.factors(), said, row)


def systems_of(configurations: Iterable[Configuration]) -> tuple[str, ...]:
    return tuple(sorted({str(one.factors["system"]) for one in configurations} & SYSTEMS.keys()))


def _title(name: str, configurations: Iterable[Configuration]) -> str:
    system, _, own = name.rpartition(".")
    if system in SYSTEMS:
        return f"{words(own)} ({SYSTEMS[system].title})"
    if name not in _TITLES:
        return words(name)
    servers = servers_title(systems_of(configurations))
    return servers.fill(_TITLES[name].replace("{Servers}", servers.many))


def described(name: str, configurations: Sequence[Configuration]) -> Parameter:
    """One parameter over a set of configurations."""
    values = {one.factors.get(name) for one in configurations}
    told = [value for value in values if value is not None]
    is_number = bool(told) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in told)
    info = {RECORD.name: RECORD, **settings_by_name()}.get(name)
    unit = info.unit if info is not None else ""
    title = _title(name, configurations)
    ordered = tuple(sorted(values, key=order))
    return Parameter(name, title, "" if unit in _PLAIN_UNITS else unit, ordered, is_number)


def order(value: Any) -> tuple[bool, float, tuple[tuple[str, int], ...]]:
    """Numbers by size, then strings, by the numbers in them too; missing values last."""
    if isinstance(value, int | float):
        return False, float(value), ()
    return value is None, float("inf"), natural(str(value))


def said(value: Any) -> str:
    """A parameter's value as text; a dash where a configuration has no such parameter."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value == "" else f"{value:g}" if isinstance(value, float) else shortened(str(value))


def differing(configurations: Sequence[Configuration]) -> list[Parameter]:
    """The parameters that differ. If profiles differ, the settings that they imply are omitted; a topology's kind is
    listed only if several topologies have the same kind.
    """
    names = dict.fromkeys(name for one in configurations for name in one.factors)
    swept = [name for name in names if _differs(name, configurations)]
    found = {
        name: described(name, configurations)
        for name in swept
        if not all(name in one.said_by_profile for one in configurations)
    }
    if "kind" in found and "topology" in found and len(found["kind"].values) == len(found["topology"].values):
        del found["kind"]
    return list(found.values())


def _differs(name: str, configurations: Sequence[Configuration]) -> bool:
    """Values that only one engine or one system has are not differences between engines or systems."""
    return vary(((one.factors["engine"], one.factors["system"]), one.factors.get(name)) for one in configurations)


def shared(configurations: Sequence[Configuration], but: Iterable[Parameter]) -> dict[str, Any]:
    """Values shared by all configurations, by name; empty values are omitted."""
    if not configurations:
        return {}
    left_out = {parameter.name for parameter in but}
    first = configurations[0]
    return {
        name: value
        for name, value in first.factors.items()
        if name not in left_out
        and value not in ("", None)
        and all(one.factors.get(name) == value for one in configurations)
    }
