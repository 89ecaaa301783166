"""Reads the steps of one message from the lake (``ways.Way``)."""

from __future__ import annotations

import pyarrow.parquet as pq

from overlay.systems.contextnet.system import SYSTEM
from telemetry.lake.records import own_table
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.contextnet import messages
from telemetry.systems.contextnet.ways import Step, Way


def find(files: RunFiles, lake: Lake, message: str) -> Way | None:
    """The way of a message of a collected run. ``message``: its id."""
    row = messages.find(files, message)
    if row is None:
        return None
    answer = messages.answer_of(message)
    path = lake.part(own_table(SYSTEM.name, "steps"), files.run)
    if not path.is_file():
        return Way(row, answer, ())
    columns = [*Step._fields]
    rows = pq.read_table(path, partitioning=None, columns=columns, filters=[("id", "in", [message, answer])])
    steps = [Step(**one) for one in rows.to_pylist()]
    return Way(row, answer, sorted(steps, key=lambda one: one.at_us))  # a stable sort keeps the order of a process
