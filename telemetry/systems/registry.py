"""The telemetry of each system, by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any

import pyarrow as pa

from overlay.core.errors import InvalidSetting
from overlay.systems.contract import System
from overlay.systems.registry import FIRST, SYSTEMS, servers_title, system_of
from overlay.systems.roles import SERVER, Title
from telemetry.errors import TelemetryError
from telemetry.lake.records import STORED, own_schema, own_table
from telemetry.measures import COMMON, Measure
from telemetry.studies.study import Row, Study
from telemetry.systems.context_broker.system import ContextBrokerTelemetry
from telemetry.systems.contextnet.system import ContextNetTelemetry
from telemetry.systems.contract import Telemetry
from telemetry.systems.federation.system import FederationTelemetry
from telemetry.systems.radiator.system import RadiatorTelemetry
from telemetry.systems.silbops.system import SilbopsTelemetry

TELEMETRY: dict[str, type[Telemetry]] = {
    one.name: one
    for one in (ContextBrokerTelemetry, RadiatorTelemetry, FederationTelemetry, SilbopsTelemetry, ContextNetTelemetry)
}
"""Systems with telemetry of their own; others have the common one."""
MOST_LIKE, LIKE = 3, 0.5
"""Names that an error lists, and how much of an unknown one they have at least."""


def telemetry_of(manifest: Mapping[str, Any]) -> Telemetry:
    """The telemetry for a run with this manifest. For an unknown system, that of the first."""
    try:
        system = system_of(str(manifest.get("system") or ""))
    except InvalidSetting:
        system = system_of("")
    return _class_of(system)(system)


def all_telemetry() -> list[Telemetry]:
    """The telemetry of every system, in the order of the registry."""
    return [_class_of(system)(system) for system in SYSTEMS.values()]


def schemas() -> Mapping[str, pa.Schema]:
    """The columns of all tables of the lake: those of all systems, and each system's own as ``SYSTEM.table``."""
    own = ((one.system.name, name, columns) for one in all_telemetry() for name, columns in one.tables.items())
    return {**STORED, **{own_table(system, name): own_schema(columns) for system, name, columns in own}}


def measures_of(system: str) -> Mapping[str, Measure]:
    """The measures of a system's runs, by name. For an unknown system, the common ones."""
    return _measures(SYSTEMS.get(system))


def measures(systems: Iterable[str] = ()) -> Mapping[str, Measure]:
    """All measures, by their names in filters, columns and charts. Common ones have the words of ``systems``, if that
    is a single one.

    A measure of one system has its bare name, or its key ``SYSTEM.name`` where a measure before it has that.
    """
    named = set(systems)
    return _all_measures(tuple(SYSTEMS.values()), SYSTEMS.get(named.pop()) if len(named) == 1 else None)


def listed_figures(systems: Iterable[str]) -> tuple[str, ...]:
    """The measures in a list of these systems' runs, by their names in ``measures``; without systems, of the first."""
    return _named(systems, lambda one: one.list_figures or one.main_figures[:3])


def sweep_figures(system: str) -> tuple[str, ...]:
    """The measures in the table of a sweep, by their names in ``measures``."""
    return _named([system], lambda one: one.sweep_figures or one.main_figures)


def first_figure(systems: Iterable[str]) -> str:
    """The measure that a comparison of these systems' runs draws if it names none, by its name in ``measures``."""
    return _named(systems, lambda one: (one.first_figure,) if one.first_figure else one.main_figures[:1])[0]


def shared_figure(measured: Mapping[str, Collection[str]]) -> str:
    """The measure that a comparison of several systems draws: the first that all of them have, of their first figures,
    their main ones and the common ones in this order; without one, the first figure of the first system.

    ``measured`` gives the keys of the measures that runs of each system have and that are not always zero. Returns its
    name in ``measures``.
    """
    firsts = _named(measured, lambda one: (one.first_figure,) if one.first_figure else ())
    offered = (*firsts, *_named(measured, lambda one: one.main_figures), *COMMON)
    shared = (name for name in offered if all(measures()[name].key in found for found in measured.values()))
    return next(shared, first_figure(measured))


def _named(systems: Iterable[str], of: Callable[[Telemetry], Sequence[str]]) -> tuple[str, ...]:
    """Without duplicates, system by system in the order of the registry."""
    chosen = set(systems) & SYSTEMS.keys() or {FIRST}
    shown = [one for one in all_telemetry() if one.system.name in chosen]
    keys = [measures_of(one.system.name)[name].key for one in shown for name in of(one)]
    names = {measure.key: name for name, measure in measures().items()}
    return tuple(dict.fromkeys(names[key] for key in keys))


def studies() -> Mapping[str, Study]:
    """The studies of every system, by id. Raises ``TelemetryError`` where two have one id or name."""
    found: dict[str, Study] = {}
    named: dict[str, Study] = {}
    for system in SYSTEMS.values():
        for one in _class_of(system).studies:
            study = replace(one, system=system.name)
            for name in (study.id, *study.names):
                if name in named:
                    raise TelemetryError(f"{named[name].system} and {system.name} both have a study {name}.")
                named[name] = study
            found[study.id] = study
    return found


def study_called(name: str) -> Study:
    """The study with this id or name. Raises ``InvalidSetting``, which says the names that are like it."""
    known = {each: study for study in studies().values() for each in (study.id, *study.names)}
    if name in known:
        return known[name]
    lowered = {each.lower(): each for each in known}
    near = [lowered[one] for one in get_close_matches(name.lower(), lowered, n=MOST_LIKE, cutoff=LIKE)]
    others = f"the nearest are {', '.join(near)}" if near else f"there are {', '.join(studies())}"
    raise InvalidSetting("study", f"there is none with the id or name {name!r:.40}; {others}")


def row_of(configuration: Mapping[str, Any], name: str, seed: int, figures: Mapping[str, float]) -> Row:
    """A run as studies read it: its configuration with its hash, its seed, and its figures by key."""
    known = {one.name: figures[one.key] for one in measures_of(configuration["system"]).values() if one.key in figures}
    topology = configuration["topology"]
    return Row(
        topology["kind"],
        topology["brokers"],
        configuration["settings"],
        configuration["workload"],
        known,
        seed,
        name,
        configuration.get("faults") or (),
    )


@cache
def _measures(system: System | None) -> Mapping[str, Measure]:
    if system is None:
        return _titled(COMMON, SERVER)
    telemetry = _class_of(system)
    own = {one.name: replace(one, system=system.name) for one in telemetry.measures}
    words = {name: one._asdict() for name, one in telemetry.common_words.items()}
    common: dict[str, Measure] = {name: replace(one, **words.get(name, {})) for name, one in COMMON.items()}
    return _titled({**common, **own}, system.server_title)


def _titled(known: Mapping[str, Measure], servers: Title) -> dict[str, Measure]:
    """With what servers are called in titles."""
    return {
        name: replace(one, title=servers.fill(one.title), short=servers.fill(one.short)) for name, one in known.items()
    }


@cache
def _all_measures(systems: tuple[System, ...], words_of: System | None) -> Mapping[str, Measure]:
    own = [one for system in systems for one in _measures(system).values() if one.system]
    if words_of is None:
        found = _titled(COMMON, servers_title(system.name for system in systems))
    else:
        found = {name: _measures(words_of)[name] for name in COMMON}
    for one in own:
        found.setdefault(one.name, one)
    return {**found, **{one.key: replace(one, name=one.key) for one in own if found[one.name] is not one}}


@cache
def _class_of(system: System) -> type[Telemetry]:
    if not system.telemetry:
        return TELEMETRY.get(system.name, Telemetry)
    module, _, name = system.telemetry.partition(":")
    found: type[Telemetry] = getattr(import_module(module), name)
    return found
