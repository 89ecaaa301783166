"""The summary of a run's deliveries, connections and hand-overs. Pure.

As for requests, only those published, intended or begun during measuring count. Delays start at the scheduled time of
the publication, so the delays caused by a stalled server are fully counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from overlay.journal.facts import CONNECTED
from telemetry.statistics import metrics
from telemetry.statistics.metrics import Numbers
from telemetry.summary.exchanges import in_measuring


def summarised(tables: Mapping[str, pa.Table], duration_us: int) -> dict[str, Any]:
    """``deliveries``, ``connections`` and ``handovers``, as far as the run has them; times in microseconds."""
    found: dict[str, Any] = {}
    for name, summed in (("deliveries", _deliveries), ("connections", _connections), ("handovers", _handovers)):
        if name in tables and tables[name].num_rows:
            found[name] = summed(in_measuring(tables[name]), duration_us)
    return found


def _deliveries(measured: pa.Table, duration_us: int) -> dict[str, Any]:
    first = measured.select(["published_us", "received_us"]).filter(pc.equal(measured["copy"], 1))
    return {
        "arrived": measured.num_rows,
        "delivered": first.num_rows,
        "duplicates": measured.num_rows - first.num_rows,
        "publications": len(pc.unique(measured["publication"])),
        "receivers": measured.group_by(["role", "client"]).aggregate([]).num_rows,
        "per_s": metrics.rate(first.num_rows, duration_us),
        "delay_us": metrics.spread(_between(first, "published_us", "received_us")),
    }


def _connections(measured: pa.Table, duration_us: int) -> dict[str, Any]:
    opened = measured.filter(pc.greater(measured["opened_us"], 0))
    return {
        **{outcome: _count(measured, outcome) for outcome in CONNECTED},
        "connecting_us": metrics.spread(_between(opened, "intended_us", "opened_us")),
        "lasted_us": metrics.spread(_between(opened, "opened_us", "ended_us")),
    }


def _handovers(measured: pa.Table, duration_us: int) -> dict[str, Any]:
    done = measured.filter(pc.equal(measured["outcome"], "done"))
    told = measured.filter(pc.greater_equal(measured["missed"], 0))
    return {
        "done": done.num_rows,
        "failed": measured.num_rows - done.num_rows,
        "took_us": metrics.spread(_between(done, "began_us", "ended_us")),
        "missed": pc.sum(told["missed"]).as_py(),
    }


def _count(table: pa.Table, outcome: str) -> int:
    return int(pc.sum(pc.equal(table["outcome"], outcome)).as_py() or 0)


def _between(table: pa.Table, begin: str, end: str) -> Numbers:
    times: Numbers = pc.subtract(table[end], table[begin]).to_numpy()
    return times
