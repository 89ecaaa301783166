"""The summary of exchanges of clients, such as requests and updates. Pure. Times are in microseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from telemetry.statistics import metrics


def in_measuring(table: pa.Table) -> pa.Table:
    return table.filter(pc.equal(table["phase"], "measuring"))


def of_roles(samples: pa.Table, roles: Sequence[str]) -> pa.Table:
    return in_measuring(samples.filter(pc.is_in(samples["role"], pa.array(roles, pa.string()))))


def _numbers(table: pa.Table, column: str) -> metrics.Numbers:
    values: metrics.Numbers = table[column].to_numpy()
    return values


def _answered(table: pa.Table) -> pa.Table:
    return table.filter(pc.equal(table["outcome"], "answered"))


def summed(table: pa.Table, duration_us: int) -> dict[str, Any]:
    """Outcomes, rates and response times of one role's exchanges."""
    counts = pc.value_counts(table["outcome"]).to_pylist()
    outcomes = metrics.outcome_counts({row["values"]: row["counts"] for row in counts})
    answered = _answered(table)
    ended = _numbers(answered, "ended_us")
    response = metrics.spread(ended - _numbers(answered, "intended_us"))
    from_sent = metrics.spread(ended - _numbers(answered, "sent_us"))
    return {
        "requests": table.num_rows,
        **outcomes,
        "answer_ratio": metrics.answer_ratio(outcomes),
        "per_s": metrics.rate(outcomes["answered"], duration_us),
        "attempts": int(pc.sum(table["attempts"]).as_py() or 0),
        **{f"{name}_us": response[name] for name in (*metrics.STATISTICS, "max")},
        **{f"{name}_from_sent_us": from_sent[name] for name in (*metrics.STATISTICS, "max")},
    }


def as_requests(response: dict[str, Any]) -> dict[str, Any]:
    """Adds the short names of the contract for requests: ``mean``, ``p50``, ``p95``, ``p99`` in µs."""
    return {**response, **{name: response[f"{name}_us"] for name in metrics.STATISTICS}}


def bounds(requests: pa.Table, rightly_not_found: int) -> dict[str, Any]:
    """Response times of all requests that could be answered; those without an answer count as infinite."""
    answered = _answered(requests)
    unanswered = requests.num_rows - answered.num_rows - rightly_not_found
    took = _numbers(answered, "ended_us") - _numbers(answered, "intended_us")
    return {"requests": len(took) + unanswered, "unanswered": unanswered, **metrics.bounds(took, unanswered)}


def lateness_us(requests: pa.Table) -> metrics.Numbers:
    return _numbers(requests, "sent_us") - _numbers(requests, "intended_us")
