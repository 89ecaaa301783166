"""Traced queries of a run, for REST and pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from brokerweb.systems.context_broker.queries import timeline
from overlay.systems.registry import SYSTEMS
from telemetry.charts.sequences import Sequence
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.context_broker import tracefile
from telemetry.systems.context_broker.sequence import sequence_of
from telemetry.systems.context_broker.traces import Query


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a run's traces."""

    count: int
    """Total number."""
    kept_one_in: int
    rows: list[dict[str, Any]]


def listing(run: Run, outcomes: Iterable[str], order: str, offset: int, limit: int) -> Listing:
    """Traces with one of these outcomes (default: any), in an order of ``tracefile.ORDERS``."""
    table = tracefile.listed(_files(run), outcomes, order)
    rows = [timeline.summary(row) for row in table.slice(offset, limit).to_pylist()]
    return Listing(table.num_rows, tracefile.kept_one_in(table), rows)


def find(run: Run, trace: str) -> dict[str, Any] | None:
    """One complete trace."""
    query = tracefile.find(_files(run), trace)
    return None if query is None else _told(query, run)


def drawn(run: Run, trace: str) -> tuple[dict[str, Any], Sequence] | None:
    """The same with its sequence diagram."""
    query = tracefile.find(_files(run), trace)
    if query is None:
        return None
    sample = tracefile.client_view(query, Lake(settings.LAKE), run.pk) or {}
    return _told(query, run), sequence_of(query, sample.get("sent_us"), sample.get("ended_us"))


def _told(query: Query, run: Run) -> dict[str, Any]:
    chosen, client = _settings(run), _client(query, run)
    most_hops = timeline.most_hops(chosen, run.configuration["topology"]["brokers"])
    return timeline.describe(query, most_hops, client)


def traced_one_in(run: Run) -> int:
    """One query in this many is traced; 0: none."""
    return int(_settings(run).get("trace_one_in", 0))


def _settings(run: Run) -> dict[str, Any]:
    return SYSTEMS[run.configuration["system"]].whole(run.configuration["settings"])


def _files(run: Run) -> RunFiles:
    return RunFiles(settings.RUNS / run.pk)


def _client(query: Query, run: Run) -> dict[str, Any] | None:
    sample = tracefile.client_view(query, Lake(settings.LAKE), run.pk)
    if sample is None:
        return None
    begin = query.at_us
    took = {"took_ms": timeline.ms(sample["ended_us"] - sample["sent_us"])}
    times = {f"{name}_at_ms": timeline.ms(sample[f"{name}_us"] - begin) for name in ("intended", "sent", "ended")}
    kept = {name: sample.get(name) for name in ("client", "outcome", "status", "attempts", "truth")}
    return {**kept, **took, **times}
