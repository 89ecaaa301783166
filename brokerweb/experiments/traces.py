"""Traces of single queries of a run, as REST gives them and pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from brokerweb.moments import moment
from overlay.broker.config import MOST_HOPS
from overlay.systems import SYSTEMS
from telemetry import tracefile
from telemetry.endings import WALKS, ending_of
from telemetry.runs import Lake, RunFiles
from telemetry.sequence import Sequence, sequence_of
from telemetry.traces import CONSUMER, Hop, Query, Step


@dataclass(frozen=True, slots=True)
class Listing:
    """A part of a run's traces."""

    count: int
    """How many there are in all."""
    kept_one_in: int
    rows: list[dict[str, Any]]


def listing(run: Run, outcomes: Iterable[str], order: str, offset: int, limit: int) -> Listing:
    """Traces with one of these outcomes, or with any where none is named; an order of ``tracefile.ORDERS``."""
    table = tracefile.listed(_files(run), outcomes, order)
    rows = [_summary(row) for row in table.slice(offset, limit).to_pylist()]
    return Listing(table.num_rows, tracefile.kept_one_in(table), rows)


def find(run: Run, trace: str) -> dict[str, Any] | None:
    """One trace, whole."""
    query = tracefile.find(_files(run), trace)
    return None if query is None else _told(query, run)


def drawn(run: Run, trace: str) -> tuple[dict[str, Any], Sequence] | None:
    """The same, and what its sequence diagram shows."""
    query = tracefile.find(_files(run), trace)
    if query is None:
        return None
    sample = tracefile.client_view(query, Lake(settings.LAKE), run.pk) or {}
    return _told(query, run), sequence_of(query, sample.get("sent_us"), sample.get("ended_us"))


def _told(query: Query, run: Run) -> dict[str, Any]:
    begin = query.at_us
    client = _client(query, run)
    return {
        **_summary(tracefile.row(query)),
        "ending": asdict(ending_of(query, _most_hops(run), client["truth"] if client else None)),
        "consumer": query.consumer,
        "silent": query.silent,
        "passages": [_passage(hop, begin) for hop in query.hops],
        "steps": [_step(step, begin) for step in query.steps],
        "client": client,
    }


def _most_hops(run: Run) -> int | None:
    """How many hops a query of this run goes at most; ``None`` where its strategy has another bound."""
    chosen = _settings(run)
    if chosen.get("arm") == "structured" or chosen.get("search") not in WALKS:
        return None
    return int(chosen["walk_ttl"] or min(4 * run.configuration["topology"]["brokers"], MOST_HOPS))


def traced_one_in(run: Run) -> int:
    """Of the run's queries one in so many was to be traced; 0 for none."""
    return int(_settings(run)["trace_one_in"])


def _settings(run: Run) -> dict[str, Any]:
    return SYSTEMS[run.configuration["system"]].whole(run.configuration["settings"])


def _files(run: Run) -> RunFiles:
    return RunFiles(settings.RUNS / run.pk)


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    kept = ("id", "entity", "timestamp_ms", "asked", "outcome", "hops", "messages", "replicas", "partial")
    return {**{name: row[name] for name in kept}, "at": moment(row["timestamp_ms"]), "ms": _ms(row["us"])}


def _passage(hop: Hop, begin: int) -> dict[str, Any]:
    ends = {"sender": hop.sender, "receiver": hop.receiver}
    at_ms = None if hop.left_us is None else _ms(hop.left_us - begin)
    times = {"at_ms": at_ms, "ms": _ms(hop.us), "round_ms": _ms(hop.round_us)}
    return {"number": hop.number, "kind": hop.kind, **ends, **times}


def _step(step: Step, begin: int) -> dict[str, Any]:
    return {
        "at_ms": _ms(step.at_us - begin),
        "broker": step.broker,
        "step": step.step,
        "peer": step.peer if step.peer >= 0 else None,
        "with_consumer": step.peer == CONSUMER,
        "detail": step.detail,
    }


def _client(query: Query, run: Run) -> dict[str, Any] | None:
    sample = tracefile.client_view(query, Lake(settings.LAKE), run.pk)
    if sample is None:
        return None
    begin = query.at_us
    took = {"took_ms": _ms(sample["ended_us"] - sample["sent_us"])}
    times = {f"{name}_at_ms": _ms(sample[f"{name}_us"] - begin) for name in ("intended", "sent", "ended")}
    kept = {name: sample.get(name) for name in ("client", "outcome", "status", "attempts", "truth")}
    return {**kept, **took, **times}


def _ms(us: int | None) -> float | None:
    return None if us is None else us / 1000
