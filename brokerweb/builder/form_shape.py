"""Checks that the form can show a definition completely. Counterpart: ``forms`` shows it.

Only the structure is checked here, so that a half-finished document can be continued in the form.
``overlay.experiment.definition`` checks the contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokerweb.builder import fault_forms
from overlay.core.engines import Simulation
from overlay.core.errors import InvalidSetting, shown
from overlay.core.settings import describe
from overlay.core.untrusted import Unreadable, read_json
from overlay.experiment import sweeps
from overlay.experiment.definition import FIELDS
from overlay.systems.contract import System
from overlay.systems.registry import RECORD, SYSTEMS

SIMULATION = describe(Simulation)


def check_shape(definition: Mapping[str, Any]) -> None:
    """Raises ``InvalidSetting`` for anything the form cannot show."""
    for name in definition:
        if name not in FIELDS:
            raise InvalidSetting(str(name)[:60], f"is unknown; fields of an experiment: {', '.join(FIELDS)}")
    system = definition.get("system", next(iter(SYSTEMS)))
    if not isinstance(system, str) or system not in SYSTEMS:
        raise InvalidSetting("system", f"must be one of {', '.join(SYSTEMS)}, not {shown(system)}")
    known = {"workload": SYSTEMS[system].workload, "settings": SYSTEMS[system].settings, "simulation": SIMULATION}
    for group, infos in known.items():
        _check_group(group, definition.get(group, {}), {info.name for info in infos})
    for name in ("name", "engine"):
        if not isinstance(definition.get(name, ""), str):
            raise InvalidSetting(name, "must be text")
    for name in ("replicates", "seed", RECORD.name):
        if not isinstance(definition.get(name, 0), int):
            raise InvalidSetting(name, "must be a whole number")
    for name in ("blocks", "thresholds", "faults"):
        if not isinstance(definition.get(name) or [], list):
            raise InvalidSetting(name, "must be a list")
    if not all(isinstance(one, str) for one in definition.get("thresholds") or []):
        raise InvalidSetting("thresholds", "must be a list of strings such as p95 < 2ms")
    for index, block in enumerate(definition.get("blocks") or []):
        if not is_block(block):
            sentence = "must be an object with topology, settings and workload; each is a value or a list"
            raise InvalidSetting(f"blocks.{index}", sentence)
    try:
        fault_forms.shown(faults_of(definition, SYSTEMS[system]), SYSTEMS[system].faults)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidSetting("faults", "must be a list of faults, each with kind, target and at_s") from None


def faults_of(definition: Mapping[str, Any], system: System) -> Any:
    """The documents of its faults, in words that the form knows."""
    return system.in_common_words(definition.get("faults") or [])


def _check_group(group: str, values: Any, known: set[str]) -> None:
    if not isinstance(values, Mapping):
        raise InvalidSetting(group, "must be an object of names and values")
    for name, value in values.items():
        if name not in known:
            raise InvalidSetting(f"{group}.{str(name)[:60]}", f"is unknown; known names: {', '.join(sorted(known))}")
        if not _is_swept(value):
            raise InvalidSetting(f"{group}.{name}", "must be a value or a list of values")


def is_block(value: Any) -> bool:
    is_object = isinstance(value, dict) and isinstance(value.get("faults", []), list)
    return is_object and all(_is_group(value.get(group, {})) for group in sweeps.SWEPT_GROUPS)


def _is_group(values: Any) -> bool:
    return isinstance(values, dict) and all(map(_is_swept, values.values()))


def _is_swept(value: Any) -> bool:
    """Whether it is a value or a list of values."""
    return not any(isinstance(one, dict | list) for one in listed(value))


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def read_topology(text: str) -> Any:
    """An id, or the definition of a new topology."""
    if not text.startswith("{"):
        return text
    try:
        found = read_json(text)
    except Unreadable:
        return text
    return found if isinstance(found, dict) else text


def read_blocks(text: str) -> list[dict[str, Any]]:
    """Blocks from the form's hidden field; empty for any other text."""
    try:
        found = read_json(text) if text else []
    except Unreadable:
        return []
    return found if isinstance(found, list) and all(is_block(one) for one in found) else []
