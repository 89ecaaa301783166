"""The table of a comparison as rows of plain values, for REST, CSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from brokerweb.comparison.services import Comparison, Group
from brokerweb.kit.tables import Table
from telemetry.measures import Measure, with_unit


def entry(found: Comparison, group: Group) -> dict[str, Any]:
    """One group with all its data."""
    return {
        "number": group.number,
        "configuration": group.id,
        "configurations": list(group.configurations),
        "label": group.label,
        "engine": group.engine,
        "role": group.role,
        "parameters": dict(group.factors),
        "n": len(group.runs),
        "runs": [one.run for one in group.runs],
        "figures": {
            name: {key: value for key, value in one.as_dict().items() if key != "replicates"}
            for name, one in group.estimates.items()
        },
        "published": group.published,
        "is_baseline": group.is_baseline,
        "difference": group.difference.as_dict() if group.difference else None,
    }


def flat(found: Comparison, groups: Iterable[Group]) -> Table:
    """One row per group."""
    told = list(found.asked.by) or [one.name for one in found.differing]
    names = ["number", "configuration", "label", "engine", "runs", *told]
    for measure in found.asked.measures:
        name = with_unit(measure.name, measure.unit)
        names += [name, f"{name}_low", f"{name}_high", f"{name}_n"]
    compared = found.baseline is not None
    if compared:
        name = with_unit(found.asked.measure.name, found.asked.measure.unit)
        names += [f"{name}_difference", "difference_low", "difference_high", "difference_n", "verdict"]
    return Table(names, [_row(found, group, told, compared) for group in groups])


def _row(found: Comparison, group: Group, told: Sequence[str], compared: bool) -> list[Any]:
    row = [
        group.number,
        group.id,
        group.label,
        group.engine,
        len(group.runs),
        *(group.factors.get(name) for name in told),
    ]
    for measure in found.asked.measures:
        one = group.estimates[measure.name]
        row += [one.value, one.low, one.high, one.n]
    if compared:
        held = group.difference
        row += [held.value, held.low, held.high, held.n, held.verdict] if held else [None, None, None, 0, "baseline"]
    return row


def summary(found: Comparison) -> dict[str, Any]:
    """Totals of the comparison."""
    chosen = found.selection
    return {
        "runs": len(chosen.runs),
        "not_done": chosen.not_done,
        "repeats": chosen.repeats,
        "changed": chosen.changed,
        "metrics": [_told(measure) for measure in found.asked.measures],
        "aggregate": found.asked.aggregate,
        "by": list(found.asked.by),
        "differing": [{"name": one.name, "unit": one.unit, "values": list(one.values)} for one in found.differing],
        "baseline": {"text": found.baseline.text, "label": found.baseline.label, "runs": found.baseline.runs}
        if found.baseline
        else None,
        "verdicts": dict(found.verdicts) or None,
    }


def _told(measure: Measure) -> Mapping[str, str]:
    return {"name": measure.name, "title": measure.title, "unit": measure.unit, "better": measure.better}
