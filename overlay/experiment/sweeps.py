"""Expands a definition to its configurations. Pure.

A definition is a configuration in which any workload field, any setting and the topology may be lists. It defines
their product. ``blocks`` is a list of partial definitions, each of which overrides the rest; its ``faults`` are instead
of the definition's. The definition is then the union of their products, without duplicates.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import product
from math import prod
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.core.settings import SettingInfo
from overlay.systems.contract import PROFILE
from overlay.systems.registry import SYSTEMS

SWEPT_GROUPS = ("settings", "workload")


def choices(definition: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every choice of ``{"topology", "settings", "workload"}``, with ``faults`` if its block has them, in the
    definition's order, duplicates removed."""
    found = {_canonical(choice): choice for block in _blocks(definition) for choice in _product(block)}
    return list(found.values())


def count(definition: Mapping[str, Any]) -> int:
    """An upper bound of the number of choices, without expanding them."""
    return sum(prod(len(values) for _, values in _axes(block)) for block in _blocks(definition))


def axes(definition: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The parameters that vary: dotted names, and the values of each over all blocks.

    A block with a single value for a setting varies it, too, if another block uses the default.
    """
    system = SYSTEMS[definition["system"]]
    usual = {"settings": _defaults(system.settings), "workload": _defaults(system.workload)}
    blocks = list(_blocks(definition))
    found = {"topology": _values(block["topology"] for block in blocks)}
    for group in SWEPT_GROUPS:
        layered = [{**usual[group], **block[group]} for block in blocks]
        for name in dict.fromkeys(name for layer in layered for name in layer):
            found[f"{group}.{name}"] = _values(layer[name] for layer in layered if name in layer)
    return {name: values for name, values in found.items() if len(values) > 1}


def _defaults(infos: Iterable[SettingInfo]) -> dict[str, Any]:
    return {info.name: info.default for info in infos}


def _values(given: Iterable[Any]) -> list[Any]:
    """The distinct values, with lists flattened."""
    return list(dict.fromkeys(one for value in given for one in (value if isinstance(value, list) else [value])))


def configuration_hash(configuration: Mapping[str, Any]) -> str:
    """The hash of everything that affects a configuration: a topology's brokers and links, but not its name, and the
    settings of a profile.

    The positions of brokers are included if clients are assigned to the nearest broker, and faults if there are any.
    """
    counts = ["brokers", "links"]
    if configuration["workload"].get("assignment") == "nearest":
        counts.append("positions")
    topology = {key: configuration["topology"][key] for key in counts}
    settings = {name: value for name, value in configuration["settings"].items() if name != PROFILE}
    counted = {**configuration, "topology": topology, "settings": settings}
    if not counted.get("faults"):
        counted.pop("faults", None)
    return blake2b(_canonical(counted).encode(), digest_size=8).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _blocks(definition: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for block in definition.get("blocks") or [{}]:
        yield {
            "topology": block.get("topology", definition.get("topology")),
            **{group: {**(definition.get(group) or {}), **(block.get(group) or {})} for group in SWEPT_GROUPS},
            **({"faults": block["faults"]} if "faults" in block else {}),
        }


def _axes(block: Mapping[str, Any]) -> list[tuple[tuple[str, str], list[Any]]]:
    """Each (group, field) with its values; a single value is a list of one."""
    listed = [(("topology", ""), _as_list("topology", block["topology"]))]
    for group in SWEPT_GROUPS:
        listed += [((group, name), _as_list(f"{group}.{name}", value)) for name, value in block[group].items()]
    return listed


def _as_list(field: str, value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InvalidSetting(field, "is an empty list; a sweep needs at least one value")
    if any(isinstance(one, (list, dict)) for one in values):
        raise InvalidSetting(
            field, "must be a value or a list of values; one that is itself a list is written as comma-separated text"
        )
    return values


def _product(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    names, values = zip(*_axes(block), strict=True)
    for chosen in product(*values):
        choice: dict[str, Any] = {"topology": None, "settings": {}, "workload": {}}
        if "faults" in block:
            choice["faults"] = block["faults"]
        for (group, name), value in zip(names, chosen, strict=True):
            if group == "topology":
                choice["topology"] = value
            else:
                choice[group][name] = value
        yield choice
