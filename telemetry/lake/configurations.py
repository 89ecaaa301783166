"""Groups runs into replicates of a configuration: runs that agree in everything but their seed. Pure."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from typing import Any

from overlay.core.engines import SIMULATED
from overlay.core.links import LINK_SETTINGS
from overlay.systems.contract import PROFILE
from overlay.systems.registry import RECORD, SYSTEMS, name_among_all, settings_by_name, value_words
from telemetry.errors import TelemetryError
from telemetry.formatting import shortened
from telemetry.lake.runs import checked_run_id

WORDS = {
    "brokers": ("broker", "brokers"),
    "duration_s": ("s measured", "s measured"),
    RECORD.name: ("MB recorded", "MB recorded"),
}
"""The words after the value of a factor of every system, for one and for several."""


@dataclass(frozen=True, slots=True)
class ChosenRun:
    """One run of a report: what it was, as its row and its manifest say together."""

    run: str
    replicate: int
    seed: str
    """Decimal; 64 bits are more than JSON's readers hold in a number."""
    verdict: str
    reasons: tuple[str, ...]
    topology: Mapping[str, Any]
    system: str
    engine: str
    settings: Mapping[str, Any]
    workload: Mapping[str, Any]
    faults: Sequence[Mapping[str, Any]]
    simulation: Mapping[str, Any]
    """What was chosen of a simulated run; empty for a live one."""
    manifest: Mapping[str, Any] = field(repr=False)
    record_mb: int = 0
    """Recording costs what is measured, so a recorded run is no replicate of one that is not."""
    changed: str = ""
    """Of a run that repeats another with one thing changed, what was changed, in words."""
    study: str = ""
    """Id of the study that it was launched for; empty where it was for none."""
    scale: str = ""
    """At which that study was launched."""

    @property
    def is_simulated(self) -> bool:
        return self.engine == SIMULATED

    @property
    def started(self) -> str:
        """When, in UTC; these sort as the instants do."""
        return str(self.manifest.get("started") or "")

    @property
    def kind(self) -> str:
        return str(self.topology.get("kind") or self.topology.get("name") or "unknown")

    @property
    def brokers(self) -> int:
        return int(self.topology.get("brokers") or 0)

    @property
    def configuration(self) -> dict[str, Any]:
        """``{system, engine, topology: {kind, brokers, links, ...}, settings, workload, faults, simulation}``."""
        return {
            "system": self.system,
            "engine": self.engine,
            "topology": {**self.topology, "kind": self.kind, "brokers": self.brokers},
            "settings": self.settings,
            "workload": self.workload,
            "faults": self.faults,
            "simulation": self.simulation,
        }

    def factors(self) -> dict[str, Any]:
        """Everything that can differ between configurations, by name; settings by their name among all systems'."""
        chosen = {**self.settings, **self.workload}
        return {
            "topology": self.topology.get("name") or self.kind,
            "kind": self.kind,
            "brokers": self.brokers,
            "links": links_in_words(self.topology.get("links") or ()),
            "system": self.system,
            "engine": self.engine,
            **{name_among_all(self.system, name): value for name, value in chosen.items()},
            "faults": faults_in_words(self.faults),
            **self.simulation,
            RECORD.name: self.record_mb,
        }

    def key(self) -> str:
        """The same for all replicates: a hash of topology with links, system, engine, settings, workload and faults.

        A profile counts by the settings that it stands for.
        """
        parts: list[Any] = [self.topology.get("name"), self.kind, self.brokers, self.topology.get("links") or []]
        settings = {name: value for name, value in self.settings.items() if name != PROFILE}
        parts += [self.system, self.engine, settings, self.workload]
        parts += [one for one in (self.faults, self.simulation, self.record_mb) if one]
        text = json.dumps(parts, sort_keys=True, default=str)
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def is_said_by_profile(self, name: str) -> bool:
        """Whether a factor is a setting as this run's profile has it, so that the profile's name says it."""
        name = name.removeprefix(f"{self.system}.")
        profile = self.settings.get(PROFILE)
        if self.system not in SYSTEMS or profile is None or name == PROFILE:
            return False
        whole = _of_profile(self.system, str(profile))
        return name in whole and name in self.settings and self.settings[name] == whole[name]


@cache  # called for every setting of every configuration
def _of_profile(system: str, profile: str) -> Mapping[str, Any]:
    """Every setting with its value in a profile."""
    return SYSTEMS[system].whole({PROFILE: profile})


def _seed(*places: Mapping[str, Any]) -> str:
    """The first that is said; 0 is one."""
    return next((str(place["seed"]) for place in places if place.get("seed") not in (None, "")), "")


def choose(row: Mapping[str, Any], manifest: Mapping[str, Any]) -> ChosenRun:
    """One entry of a report's list of runs. Missing values come from the manifest in the lake.

    ``row`` is ``{run, topology?, system?, configuration?, replicate?, verdict?, study?, ...}``, ``configuration``
    holding any of ``topology``, ``system``, ``engine``, ``settings``, ``workload``, ``faults`` and ``simulation``.
    Raises ``TelemetryError``.
    """
    if not isinstance(row, Mapping) or not isinstance(row.get("run"), str):
        raise TelemetryError('Each chosen run must be an object with its id as "run".')
    given = {**(row.get("configuration") or {}), **{name: row[name] for name in ("system", "engine") if row.get(name)}}
    summary = {**(manifest.get("summary") or {}), **(row.get("summary") or {})}
    return ChosenRun(
        run=checked_run_id(row["run"]),
        replicate=int(row.get("replicate") or manifest.get("replicate") or 0),
        seed=_seed(row, manifest),
        verdict=str(row.get("verdict") or summary.get("verdict") or "unknown"),
        reasons=tuple(summary.get("verdict_reasons") or ()),
        topology={**_topology(manifest.get("topology")), **_topology(given.get("topology") or row.get("topology"))},
        system=str(given.get("system") or manifest.get("system") or ""),
        engine=str(given.get("engine") or manifest.get("engine") or "live"),
        settings=given.get("settings") or manifest.get("settings") or {},
        workload=given.get("workload") or manifest.get("workload") or {},
        faults=given.get("faults") or manifest.get("faults") or [],
        simulation=given.get("simulation") or manifest.get("simulation") or {},
        manifest=manifest,
        record_mb=int(given.get(RECORD.name) or manifest.get(RECORD.name) or 0),
        changed=str(row.get("changed") or ""),
        study=str(row.get("study") or ""),
        scale=str(row.get("scale") or ""),
    )


def _topology(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {name: item for name, item in value.items() if item is not None}
    return {"name": value} if isinstance(value, str) else {}


def links_in_words(links: Sequence[Mapping[str, Any]]) -> str:
    """``delay 0.5 to 5 ms`` for shaped links; empty for plain links."""
    said = []
    shaped = [link for link in links if isinstance(link, Mapping)]
    for info in LINK_SETTINGS:
        word, unit = _words(info.name, info.unit)
        values = [float(link.get(info.name, info.default) or 0) for link in shaped]
        if any(value != info.default for value in values):
            low, high = min(values), max(values)
            said.append(f"{word} {low:.3g}{unit}" if low == high else f"{word} {low:.3g} to {high:.3g}{unit}")
    return ", ".join(said)


def _words(name: str, unit: str) -> tuple[str, str]:
    """``rate`` and `` bytes/s``; a share has no unit."""
    bare = name.removesuffix(f"_{unit.replace('/', '_per_')}").replace("_", " ")
    return bare, "" if unit in ("", "fraction") else f" {unit}"


def faults_in_words(faults: Sequence[Mapping[str, Any]]) -> str:
    """``kill as measuring begins, slow 10 s into measuring``; empty without faults."""
    when = [f"{fault['at_s']:g} s into measuring" if fault["at_s"] else "as measuring begins" for fault in faults]
    return ", ".join(f"{fault['what']} {at}" for fault, at in zip(faults, when, strict=True))


def grouped(runs: Iterable[ChosenRun]) -> dict[str, list[ChosenRun]]:
    """The replicates of each configuration, in the order in which configurations first appear."""
    groups: dict[str, list[ChosenRun]] = {}
    for run in runs:
        groups.setdefault(run.key(), []).append(run)
    return groups


def without_repeats(runs: Iterable[ChosenRun]) -> tuple[list[ChosenRun], list[ChosenRun]]:
    """The distinct runs, in order, and the others: simulated runs with a later run of the same
    configuration and seed.

    Configuration and seed determine a simulated run, so its repetition is not a replicate. Counted twice, it would make
    intervals too narrow. Live runs differ even with the same seed.
    """
    found = [((run.key(), run.seed) if run.is_simulated else (run.run, ""), run) for run in runs]
    last = {name: run.run for name, run in sorted(found, key=lambda pair: pair[1].started)}
    kept = [run for name, run in found if last[name] == run.run]
    return kept, [run for name, run in found if last[name] != run.run]


def differing(runs: Sequence[ChosenRun]) -> list[str]:
    """The names of the factors in which the runs differ. If profiles differ, their settings are not listed."""
    factors = [run.factors() for run in runs]
    names = list(dict.fromkeys(name for row in factors for name in row))
    found = [name for name in names if vary((row["system"], _compared(row.get(name))) for row in factors)]
    return [name for name in found if not all(run.is_said_by_profile(name) for run in runs)]


def _compared(value: Any) -> str | None:
    return None if value is None else json.dumps(value, default=str)


def vary(found: Iterable[tuple[Hashable, Hashable]]) -> bool:
    """Whether values differ, each given after its kind, such as its system. What only one kind has (``None`` in the
    others) is no difference between kinds."""
    by_kind: dict[Hashable, set[Hashable]] = {}
    for kind, value in found:
        by_kind.setdefault(kind, set()).add(value)
    values = by_kind.values()
    return any(len(own) > 1 for own in values) or len(set().union(*values) - {None}) > 1


def label(run: ChosenRun, differing: Sequence[str]) -> str:
    """The label of a configuration in a report: its topology and the factors that differ."""
    return label_of(run.factors(), differing)


def label_of(factors: Mapping[str, Any], differing: Sequence[str]) -> str:
    """The same from a configuration's ``factors``.

    Simulated configurations are always labelled as such.
    """
    said = [str(factors["topology"])]
    for name in differing:
        if name in ("topology", "kind", "links", "engine") or factors.get(name) in (None, ""):
            continue
        said.append(in_words(name, factors[name]))
    return ", ".join([*said, SIMULATED] if factors["engine"] == SIMULATED else said)


def in_words(name: str, value: Any) -> str:
    """A factor with its value: ``4 brokers``, ``stagger 200 ms``, ``hop ack off``."""
    if isinstance(value, bool):
        value = "on" if value else "off"
    shown = f"{value:g}" if isinstance(value, float) else shortened(str(value))
    if (words := WORDS.get(name) or value_words().get(name)) is not None:
        return f"{shown} {words[0] if value == 1 else words[1]}"
    info = settings_by_name().get(name)
    bare, unit = _words(name, info.unit if info is not None else "")
    return f"{bare} {shown}{unit}"
