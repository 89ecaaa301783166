"""The traffic on each link of a run, which determines the width of lines.

It counts every message of a recorded run, otherwise those of traced queries, which are a sample. There is none for a
run that is not collected yet, because computing it would slow down the run.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from telemetry.lake.parquet import read_table
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.traces import PASSAGES
from telemetry.systems.contract import Traffic

MESSAGES, TRACED = "messages", "traced queries"


def of_run(files: RunFiles) -> Traffic | None:
    """``None`` if nothing was recorded or traced. Raises ``StorageError`` if the file is damaged."""
    if files.messages_path.is_file():
        return Traffic(MESSAGES, _counted(read_table(files.messages_path, ["sender", "receiver"])))
    if files.traces_path.is_file():
        counts = _counted(_sent(read_table(files.traces_path, ["steps"])))
        return Traffic(TRACED, counts) if counts else None
    return None


def _sent(traces: pa.Table) -> pa.Table:
    """The steps that send a message to another broker."""
    steps = pa.chunked_array([chunk.flatten() for chunk in traces["steps"].chunks], traces["steps"].type.value_type)
    parts = pa.table({name: pc.struct_field(steps, name) for name in ("broker", "step", "peer")})
    leaving = parts.filter(pc.is_in(parts["step"], pa.array(list(PASSAGES))))
    return pa.table({"sender": leaving["broker"], "receiver": leaving["peer"]})


def _counted(ends: pa.Table) -> dict[tuple[int, int], int]:
    """Counts by pair; an end that is not a broker is negative."""
    both = ends.filter(pc.and_(pc.greater_equal(ends["sender"], 0), pc.greater_equal(ends["receiver"], 0)))
    counts: dict[tuple[int, int], int] = {}
    rows: list[dict[str, Any]] = both.group_by(["sender", "receiver"]).aggregate([([], "count_all")]).to_pylist()
    for row in rows:
        pair = min(row["sender"], row["receiver"]), max(row["sender"], row["receiver"])
        counts[pair] = counts.get(pair, 0) + row["count_all"]
    return counts
