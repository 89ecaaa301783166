"""What varies between the configurations of a definition, blocks that leave something out included. Pure.

A block that names a setting varies it even where it has one value only, if another block leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overlay.experiment.sweeps import SWEPT_GROUPS
from overlay.systems import SYSTEMS


def axes(definition: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Dotted names, and the values that each takes over all blocks; those with one value are left out."""
    system = SYSTEMS[definition["system"]]
    infos = {"settings": system.settings, "workload": system.workload}
    blocks = definition.get("blocks") or [{}]
    found = {"topology": _values(block.get("topology", definition.get("topology")) for block in blocks)}
    for group in SWEPT_GROUPS:
        usual = {info.name: info.default for info in infos[group]} | (definition.get(group) or {})
        layered = [{**usual, **(block.get(group) or {})} for block in blocks]
        for name in usual:
            found[f"{group}.{name}"] = _values(layer[name] for layer in layered)
    return {name: values for name, values in found.items() if len(values) > 1}


def _values(given: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in given:
        found += [one for one in (value if isinstance(value, list) else [value]) if one not in found]
    return found
