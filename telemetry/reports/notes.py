"""The notes below a report: how to read its values, and what limits them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overlay.core.service_times import missing_costs
from overlay.systems.registry import servers_title
from telemetry.lake.configurations import ChosenRun, grouped

MOST_NAMED = 5
"""Runs that a note names."""


def notes(runs: Sequence[ChosenRun], rows: Sequence[Mapping[str, Any]], repeated: Sequence[ChosenRun]) -> list[str]:
    return [*_notes(runs, rows), *_notes_on_simulated(runs, repeated)]


def _notes(runs: Sequence[ChosenRun], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield (
        "A value is the mean of a statistic over replicates, with its 95 % interval by Student's t; one replicate has "
        "no interval. Times and sizes have the geometric mean, with t on the logarithm; memory over idle, which may be "
        "negative, the mean; shares the mean, with Wilson's score. Pooled is the statistic of all samples together."
    )
    suspect = [run.run for run in runs if run.verdict == "suspect"]
    if suspect:
        yield f"{len(suspect)} of {len(runs)} runs are suspect; they are included and marked."
    changed = [f"{run.run} ({run.changed})" for run in runs if run.changed]
    if changed:
        yield (
            f"{len(changed)} of {len(runs)} runs are what-if runs, which repeat another run with one change; they "
            f"were selected individually: {_some(changed)}."
        )
    single = [row["label"] for row in rows if row["n"] == 1]
    if single:
        yield f"n = 1, so the spread is unknown: {'; '.join(single)}."
    if any(row["topology"]["shaped"] for row in rows):
        yield "“Shaped” links have a delay, jitter or loss added in user space."
    if any(row["published"] and not row["published"]["same"] for row in rows):
        yield "If no published row has the same workload, the nearest one is shown with its differences."


def _notes_on_simulated(runs: Sequence[ChosenRun], repeated: Sequence[ChosenRun]) -> Iterator[str]:
    simulated = [run for run in runs if run.is_simulated]
    if simulated:
        servers = servers_title(run.manifest.get("system", "") for run in simulated).in_text.many
        yield (
            f"Simulated configurations are the same {servers} and clients in virtual time. Service times, memory and "
            "CPU time are modelled, calibrated with live runs unless service times are “none”. Simulated runs are "
            "compared with live ones, but are never replicates of them."
        )
    for system in sorted({run.manifest.get("system", "") for run in simulated}):
        models = [run.manifest.get("service_times") or {} for run in simulated if run.manifest.get("system") == system]
        missing = dict.fromkeys(one for model in models for one in model.get("unmeasured", ()))
        if missing:
            yield f"{system}: {missing_costs(missing)}"
    if repeated:
        yield (
            f"{len(repeated)} simulated runs are excluded, because a later run has the same configuration and "
            f"seed and is not a replicate: {_some([run.run for run in repeated])}."
        )
    mixed = [group for group in grouped(simulated).values() if len({_simulated_by(run) for run in group}) > 1]
    if mixed:
        yield (
            f"In {len(mixed)} configurations, replicates were simulated with different code or service times, which "
            "increases their spread."
        )


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:MOST_NAMED])}{' …' if len(names) > MOST_NAMED else ''}"


def _simulated_by(run: ChosenRun) -> str:
    return json.dumps([run.manifest.get(name) for name in ("simulator", "service_times")], sort_keys=True)
