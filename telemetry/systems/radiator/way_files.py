"""Reads the records of one message from the lake (``ways.Records``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.tracing import number_of
from telemetry.lake import message_rows
from telemetry.lake.records import own_table
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.radiator.ways import Arrival, Records, Step, Way


def find(files: RunFiles, lake: Lake, message: str) -> Way | None:
    """The way of a message of a collected run."""
    row = message_rows.find(files, message)
    if row is None:
        return None
    return Way(Records(row) if row["number"] is None else _Reader(lake, files.run).records(row))


class _Reader:
    def __init__(self, lake: Lake, run: str) -> None:
        self._lake, self._run = lake, run

    def records(self, row: Mapping[str, Any]) -> Records:
        """Of an accepted message."""
        held = self._holding("propagations", row)
        names = [one["name"] for one in held]
        return Records(
            row,
            [(one["queue"], one["clients"]) for one in self._queued(row)],
            held,
            self._members(names),
            self._steps(names),
            {number_of(one["client"]): (one["outcome"], one["propagation"]) for one in self._holding("missed", row)},
            self._arrivals(row["id"]),
            self._names(row["epoch"], {number for one in held for number in one["messages"]}),
        )

    def _queued(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        found = self._own("queued", [("epoch", "=", row["epoch"]), ("message", "=", row["number"])])
        return list(found.to_pylist())

    def _holding(self, table: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows of a table whose messages it is one of."""
        rows = self._own(table, [("epoch", "=", row["epoch"])])
        lists = rows["messages"].combine_chunks()
        is_it = pc.equal(pc.list_flatten(lists), row["number"])
        return list(rows.take(pc.unique(pc.list_parent_indices(lists).filter(is_it))).to_pylist())

    def _members(self, names: Iterable[str]) -> Mapping[str, Mapping[int, list[int]]]:
        found: dict[str, dict[int, list[int]]] = defaultdict(dict)
        for one in self._of(names, "chains"):
            found[one["propagation"]][one["chain"]] = one["clients"]
        return found

    def _steps(self, names: Iterable[str]) -> Mapping[tuple[str, int], list[Step]]:
        found: dict[tuple[str, int], list[Step]] = defaultdict(list)
        for one in sorted(self._of(names, "steps"), key=lambda one: one["at_us"]):
            step = Step(one["at_us"], one["step"], one["position"], one["attempt"])
            found[one["propagation"], one["chain"]].append(step)
        return found

    def _of(self, names: Iterable[str], table: str) -> list[dict[str, Any]]:
        chosen = list(names)
        return list(self._own(table, [("propagation", "in", chosen)]).to_pylist()) if chosen else []

    def _arrivals(self, message: str) -> dict[int, Arrival]:
        columns = ["client", "received_us", "server"]
        filters = [("publication", "=", message), ("copy", "=", 1)]
        path = self._lake.part("deliveries", self._run)
        if not path.is_file():  # nothing was delivered in the run
            return {}
        rows = pq.read_table(path, partitioning=None, columns=columns, filters=filters)
        found = zip(*(rows[name].to_pylist() for name in columns), strict=True)
        return {client: Arrival(at_us, server >= 0) for client, at_us, server in found}

    def _names(self, epoch: str, numbers: set[int]) -> dict[int, str]:
        if not numbers:
            return {}
        rows = self._own("messages", [("epoch", "=", epoch), ("number", "in", sorted(numbers))])
        return dict(zip(rows["number"].to_pylist(), rows["name"].to_pylist(), strict=True))

    def _own(self, table: str, filters: list[Any]) -> pa.Table:
        path = self._lake.part(own_table(SYSTEM.name, table), self._run)
        return pq.read_table(path, partitioning=None, filters=filters)
