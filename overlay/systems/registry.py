"""The registry of systems. Drivers, web, API and reports access systems only through it.

It also contains the setting for recording a run, which is independent of the system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from overlay.core.errors import InvalidSetting, shown
from overlay.core.settings import SettingInfo
from overlay.systems.absent import absent
from overlay.systems.context_broker.system import SYSTEM as CONTEXT_BROKER
from overlay.systems.contextnet.system import SYSTEM as CONTEXTNET
from overlay.systems.contract import System, WalkPolicy
from overlay.systems.federation.system import SYSTEM as FEDERATION
from overlay.systems.radiator.system import SYSTEM as RADIATOR
from overlay.systems.roles import SERVER, Title
from overlay.systems.silbops.system import SYSTEM as SILBOPS


class _Systems(dict[str, System]):
    """``SYSTEMS[name]`` of a system that is not installed is its stand-in, which ``in`` and iteration do not show."""

    def __missing__(self, name: str) -> System:
        return absent(name)


SYSTEMS = _Systems({system.name: system for system in (CONTEXT_BROKER, RADIATOR, FEDERATION, SILBOPS, CONTEXTNET)})
"""By name, in the order of menus. Runs and networks can be of a system that is not installed (any more)."""


FIRST = next(iter(SYSTEMS))
"""The system of a document that names none."""


def servers_title(systems: Iterable[str]) -> Title:
    """What the servers of all of these systems are called: their common title, or *Server*."""
    found = {SYSTEMS[name].server_title for name in systems}
    return found.pop() if len(found) == 1 else SERVER


def have_topologies(systems: Iterable[str]) -> bool:
    """Whether users choose topologies for one of these systems, or none is known."""
    known = [SYSTEMS[name] for name in systems if name in SYSTEMS]
    return not known or not all(system.has_fixed_topology for system in known)


def name_among_all(system: str, name: str) -> str:
    """The name of a setting or workload field among those of all systems.

    ``name`` for the first system that has it and for all that mean the same by it, else ``SYSTEM.name``. A system that
    is added therefore changes no name of an earlier one.
    """
    return _names(tuple(SYSTEMS.values())).get((system, name), f"{system}.{name}" if system in SYSTEMS else name)


def systems_with(name: str) -> tuple[str, ...]:
    """The systems that have a setting under this ``name_among_all``, if others mean something else; else none."""
    bare = name.rpartition(".")[2]
    found = {system: shown for (system, one), shown in _names(tuple(SYSTEMS.values())).items() if one == bare}
    return tuple(system for system, shown in found.items() if shown == name) if len(set(found.values())) > 1 else ()


def settings_by_name() -> Mapping[str, SettingInfo]:
    """All settings and workload fields of all systems, by ``name_among_all``."""
    return _settings_by_name(tuple(SYSTEMS.values()))


def value_words() -> Mapping[str, tuple[str, str]]:
    """The words after the value of a setting, for one and for several, by ``name_among_all``."""
    return _value_words(tuple(SYSTEMS.values()))


def of_all(fields: Callable[[System], Iterable[str]]) -> list[str]:
    """The fields that each system names, in the order of the registry, by ``name_among_all``."""
    found = [(system.name, name) for system in SYSTEMS.values() for name in fields(system) if name]
    return list(dict.fromkeys(name if name in RESERVED else name_among_all(system, name) for system, name in found))


RESERVED = ("topology", "kind", "brokers", "links", "system", "engine", "faults", "seed", "replicates")
"""Parts of every configuration: a setting of such a name is always named by its system."""


@cache
def _names(systems: tuple[System, ...]) -> Mapping[tuple[str, str], str]:
    """``name_among_all`` by system and name."""
    meanings: dict[str, object] = dict.fromkeys(RESERVED)
    found = {}
    for system in systems:
        for info in (*system.workload, *system.settings):
            meaning = (info.kind, info.unit, info.choices)
            is_first = meanings.setdefault(info.name, meaning) == meaning
            found[system.name, info.name] = info.name if is_first else f"{system.name}.{info.name}"
    return found


@cache
def _settings_by_name(systems: tuple[System, ...]) -> Mapping[str, SettingInfo]:
    names = _names(systems)
    found: dict[str, SettingInfo] = {}
    for system in systems:
        for info in (*system.workload, *system.settings):
            found.setdefault(names[system.name, info.name], info)
    return found


@cache
def _value_words(systems: tuple[System, ...]) -> Mapping[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for system in systems:
        for name, words in system.presentation.value_words.items():
            found.setdefault(name_among_all(system.name, name), words)
    return found


def walk_policies() -> dict[str, WalkPolicy]:
    """The walk policies of all systems, the default first."""
    found: dict[str, WalkPolicy] = {}
    for system in SYSTEMS.values():
        found = {**found, **{name: one for name, one in system.walk_policies.items() if name not in found}}
    return found


def system_of(name: str) -> System:
    """The system named in a document; empty in documents from versions with one system. Raises ``InvalidSetting``."""
    if not name:
        return SYSTEMS[FIRST]
    if name not in SYSTEMS:
        raise InvalidSetting("system", f"must be one of {', '.join(SYSTEMS)}, not {shown(name)}")
    return SYSTEMS[name]


RECORD = SettingInfo(
    name="record_mb",
    kind="integer",
    default=0,
    unit="MB",
    help="Maximum size of each server's recording of the datagrams it receives and sends, so that the run can be "
    "replayed message by message; 0 records nothing. A datagram takes its own length and about 30 bytes. Recording "
    "costs processor time, which is part of the measurement. When the limit is reached, recording stops.",
    low=0,
    high=4096,
    choices=(),
)
"""A setting of a run, not of its system. Counterpart: ``overlay.journal.recording``."""
MOST_RECORDED = 1_000
"""Maximum brokers of a recorded overlay; each has a file of its own."""


def check_record_mb(value: object, brokers: int) -> None:
    """Raise ``InvalidSetting`` unless this many brokers may record this much."""
    RECORD.check(value)
    if value and brokers > MOST_RECORDED:
        raise InvalidSetting(RECORD.name, f"must be 0 for more than {MOST_RECORDED:,} servers; there are {brokers:,}")
