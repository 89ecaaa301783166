"""The registry of systems. Drivers, web, API and reports access systems only through it.

It also contains the setting for recording a run, which is independent of the system.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from overlay.core.errors import InvalidSetting
from overlay.core.settings import SettingInfo
from overlay.systems.context_broker.system import SYSTEM as CONTEXT_BROKER
from overlay.systems.contract import System, WalkPolicy

SYSTEMS: dict[str, System] = {system.name: system for system in (CONTEXT_BROKER,)}
"""By name, in the order of menus."""


FIRST = next(iter(SYSTEMS))
"""The system of a document that names none."""


def name_among_all(system: str, name: str) -> str:
    """The name of a setting or workload field among those of all systems.

    ``name`` where every system that has it means the same by it, else ``SYSTEM.name``.
    """
    bare = settings_by_name().get(name)
    return name if bare is not None or system not in SYSTEMS else f"{system}.{name}"


def settings_by_name() -> Mapping[str, SettingInfo]:
    """All settings and workload fields of all systems, by ``name_among_all``."""
    return _settings_by_name(tuple(SYSTEMS.values()))


RESERVED = ("topology", "kind", "brokers", "links", "system", "engine", "faults", "seed", "replicates")
"""Parts of every configuration: a setting of such a name is always named by its system."""


@cache
def _settings_by_name(systems: tuple[System, ...]) -> Mapping[str, SettingInfo]:
    found = [(system.name, info) for system in systems for info in (*system.workload, *system.settings)]
    meanings: dict[str, set[object]] = {name: {None} for name in RESERVED}
    for _, info in found:
        meanings.setdefault(info.name, set()).add((info.kind, info.unit, info.choices))
    return {info.name if len(meanings[info.name]) == 1 else f"{system}.{info.name}": info for system, info in found}


def asking_roles() -> list[str]:
    """The roles of all systems whose exchanges are requests; sorted."""
    return sorted({role for system in SYSTEMS.values() for role in system.asking_roles})


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
        raise InvalidSetting("system", f"must be one of {', '.join(SYSTEMS)}, not {name!r:.60}")
    return SYSTEMS[name]


RECORD = SettingInfo(
    name="record_mb",
    kind="integer",
    default=0,
    unit="MB",
    help="Maximum size of each broker's recording of the datagrams it receives and sends, so that the run can be "
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
        raise InvalidSetting(RECORD.name, f"must be 0 for more than {MOST_RECORDED:,} brokers; there are {brokers:,}")
