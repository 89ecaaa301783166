"""Normalises numbers, so that 30 and 30.0 of a setting that accepts fractions are one configuration. Pure.

A form writes 30.0, like the default; a person writes 30 in a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.links import LinkShape
from overlay.core.settings import describe
from overlay.experiment.sweeps import SWEPT_GROUPS
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS

OF_FAULTS = ("at_s", "until_s", "clients", *(info.name for info in describe(LinkShape) if info.kind == "number"))
"""Fields of a fault that accept fractions."""


def with_numbers(body: Mapping[str, Any]) -> dict[str, Any]:
    """``body`` with integers converted to floats where fractions are allowed; everything else is unchanged."""
    named = body.get("system") or next(iter(SYSTEMS))
    system = SYSTEMS.get(named) if isinstance(named, str) else None
    if system is None:
        return dict(body)
    infos = {"settings": system.settings, "workload": system.workload}
    fractions = {group: {info.name for info in infos[group] if info.kind == "number"} for group in SWEPT_GROUPS}

    def of_part(part: Any) -> Any:
        if not isinstance(part, Mapping):
            return part
        groups = {
            group: {name: _fraction(value) if name in fractions[group] else value for name, value in values.items()}
            for group in SWEPT_GROUPS
            if isinstance(values := part.get(group), Mapping)
        }
        faults = part.get("faults")
        of_faults = {"faults": [_of_fault(system, one) for one in faults]} if isinstance(faults, list) else {}
        return {**part, **groups, **of_faults}

    blocks = body.get("blocks")
    return {**of_part(body), **({"blocks": [of_part(one) for one in blocks]} if isinstance(blocks, list) else {})}


def _of_fault(system: System, fault: Any) -> Any:
    if not isinstance(fault, Mapping):
        return fault
    kind = system.faults.get(fault["what"]) if isinstance(fault.get("what"), str) else None
    fractions = {*OF_FAULTS, *(info.name for info in (kind.fields if kind else ()) if info.kind == "number")}
    return {name: _fraction(value) if name in fractions else value for name, value in fault.items()}


def _fraction(value: Any) -> Any:
    if isinstance(value, list):
        return [_fraction(one) for one in value]
    is_small = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    return float(value) if is_small else value
