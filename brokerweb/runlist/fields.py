"""Fields of the filter language: name, unit and value syntax. No queries here.

Counterparts: ``filtering`` builds queries; the help of the search box, the REST documentation and ``docs/filters.md``
list the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from brokerweb.experiments.models import RunState
from overlay.core.engines import ENGINES
from overlay.core.settings import SettingInfo
from overlay.systems.registry import RECORD, SYSTEMS, name_among_all, servers_title, systems_with
from telemetry.filters.values import EXAMPLES
from telemetry.systems.registry import measures

What = Literal["number", "text", "choice", "flag", "given", "moment", "tag"]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the filter language."""

    name: str
    what: What
    paths: tuple[str, ...]
    """Lookups of ``Run``; with several, any may match. The first is the sort key."""
    help: str
    example: str
    """Example condition."""
    unit: str = ""
    choices: tuple[str, ...] = ()
    is_nullable: bool = True
    """Whether it may be missing, so that ``none`` is useful."""
    systems: tuple[str, ...] = ()
    """The systems whose runs alone have it; empty: any."""

    @property
    def path(self) -> str:
        return self.paths[0]


def _choice(name: str, choices: tuple[str, ...], help: str, path: str = "", example: str = "") -> Field:
    return Field(name, "choice", (path or name,), help, example or f"{name} = {choices[0]}", choices=choices)


def _text(name: str, paths: tuple[str, ...], help: str, example: str, *, is_nullable: bool = True) -> Field:
    return Field(name, "text", paths, help, example, is_nullable=is_nullable)


def _number(name: str, path: str, help: str, example: str, unit: str = "") -> Field:
    return Field(name, "number", (path,), help, example, unit)


STRATEGIES = tuple(dict.fromkeys(name for system in SYSTEMS.values() for name in system.strategies))

_OF_RUNS = (
    _choice("state", tuple(RunState.values), "State of the run", example="state in (done, failed)"),
    _choice("engine", tuple(ENGINES), "Live (real processes) or simulated"),
    _choice("verdict", ("valid", "suspect"), "Validity of the measurement"),
    Field("passed", "flag", ("passed",), "Whether all thresholds passed; none without thresholds", "passed = no"),
    Field(
        "changed",
        "given",
        ("change",),
        "Whether it is a what-if run",
        "changed = yes",
        is_nullable=False,
    ),
    Field("tag", "tag", (), "A tag of the run; none, any", "tag = nightly"),
    _text("note", ("note",), "The note of the run; none, any", "note ~ warm"),
    Field("kept", "flag", ("kept",), "Whether it is exempt from retention", "kept = yes", is_nullable=False),
    _text("experiment", ("experiment__name",), "Name of the experiment", "experiment ~ fire", is_nullable=False),
    _text("experiment.id", ("experiment__id",), "Id of the experiment", "experiment.id = 3f9c…", is_nullable=False),
    _text("id", ("pk",), "Id of the run", "id in (3f9c…, 81d2…)", is_nullable=False),
    _text("topology", ("topology_kind", "topology_name"), "Kind or name of the topology", "topology = ring"),
    _number("brokers", "brokers", f"{servers_title(SYSTEMS).many} on the topology", "brokers >= 100"),
    _choice("system", tuple(SYSTEMS), "System"),
    _choice("strategy", STRATEGIES, "Search strategy"),
    _text("seed", ("seed",), "Seed, exact", "seed = 42", is_nullable=False),
    _number("replicate", "replicate", "Replicate number, from 0", "replicate = 0"),
    _text("configuration", ("configuration_hash",), "Hash of the configuration", "configuration = 1f3e5a7c9b2d4f60"),
    _text("host", ("host",), "Host that executed it", "host = lab-1"),
    _text("owner", ("owner__username",), "User who launched it", "owner = olga"),
    Field("created", "moment", ("created",), "Time it was queued", "created > 2d ago", is_nullable=False),
    Field("ended", "moment", ("ended_at",), "Time it ended; none, any", "ended > 2026-11-01"),
    _number(
        RECORD.name,
        f"configuration__{RECORD.name}",
        f"Recording size per {servers_title(SYSTEMS).in_text.one}",
        "record_mb > 0",
        RECORD.unit,
    ),
)


def _figures() -> Iterator[Field]:
    for measure in measures().values():
        example = f"{measure.name} < {EXAMPLES.get(measure.unit, '10')}"
        if measure.better == "higher":
            example = example.replace("<", ">")
        yield _number(measure.name, f"figures__{measure.key}", measure.title, example, measure.unit)


def _of_setting(name: str, group: str, info: SettingInfo, systems: tuple[str, ...]) -> Field:
    paths = (f"configuration__{group}__{info.name}",)
    help = info.help.partition(". ")[0].rstrip(".")
    if info.kind == "boolean":
        return Field(name, "flag", paths, help, f"{name} = yes", systems=systems)
    if info.kind == "text" and info.choices:
        return Field(name, "choice", paths, help, f"{name} = {info.choices[0]}", choices=info.choices, systems=systems)
    if info.kind == "text":
        return Field(name, "text", paths, help, f"{name} ~ 10", systems=systems)
    return Field(name, "number", paths, help, f"{name} = {info.default}", info.unit, systems=systems)


def _settings() -> dict[str, Field]:
    found: dict[str, Field] = {}
    for system in SYSTEMS.values():
        for group, described in (("workload", system.workload), ("settings", system.settings)):
            for info in described:
                among_all = name_among_all(system.name, info.name)
                name = f"{among_all.removesuffix(info.name)}{group}.{info.name}"
                found.setdefault(name, _of_setting(name, group, info, systems_with(among_all)))
    return found


RUN_FIELDS: Mapping[str, Field] = {field.name: field for field in _OF_RUNS}
FIGURES: Mapping[str, Field] = {field.name: field for field in _figures()}
SETTINGS: Mapping[str, Field] = _settings()
"""``workload.X`` and ``settings.X``; ``SYSTEM.workload.X`` where an earlier system means something else by X."""


def alone(settings: Mapping[str, Field]) -> dict[str, Field]:
    """Settings by their name without ``workload`` or ``settings``, if unique."""
    names = [without_group(name) for name in settings]
    taken = {*RUN_FIELDS, *FIGURES}
    return {
        short: field
        for name, field in settings.items()
        if (short := without_group(name)) not in taken and names.count(short) == 1
    }


def without_group(name: str) -> str:
    """``payload_bytes`` or ``SYSTEM.payload_bytes``, as ``name_among_all`` has it."""
    *system, _, bare = name.split(".")
    return ".".join((*system, bare))


ALONE: Mapping[str, Field] = alone(SETTINGS)
QUALIFIED: Mapping[str, str] = {
    f"{system}.{name}": name for name, field in SETTINGS.items() for system in field.systems if name.count(".") == 1
}
"""Names with the system of settings that also have a name without it."""
FIELDS: Mapping[str, Field] = {
    **RUN_FIELDS,
    **FIGURES,
    **SETTINGS,
    **ALONE,
    **{alias: SETTINGS[name] for alias, name in QUALIFIED.items()},
}
"""All field names."""

GROUPS: Mapping[str, Mapping[str, Field]] = {
    "Runs": RUN_FIELDS,
    "Figures": FIGURES,
    "Workload": {name: field for name, field in SETTINGS.items() if ".workload." in f".{name}"},
    "Settings": {name: field for name, field in SETTINGS.items() if ".settings." in f".{name}"},
}
"""Groups of the help."""
