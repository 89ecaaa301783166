"""A row for each message that was due while measuring, written when its run is collected.

Counterparts: ``ways`` has everything about one of them, and ``overlay.systems.contextnet.measuring.ledger`` says what
became of it. ``us`` is the RTT: from the instant at which the message was due to its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.measuring.facts import Facts
from overlay.systems.contextnet.measuring.ledger import COLUMNS, DELIVERED, EVICTED, EXPIRED, LATE, LOST, Ledger
from overlay.systems.contextnet.names import answer_id
from telemetry.lake.runs import RunFiles
from telemetry.lake.storage import whole_file

INBOUND, OUTBOUND = "inbound", "outbound"
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("direction", pa.string(), nullable=False),
        pa.field("node", pa.int64(), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("us", pa.int64()),
        pa.field("stored", pa.bool_(), nullable=False),
        pa.field("disconnecting", pa.bool_(), nullable=False),
        pa.field("traced", pa.bool_(), nullable=False),
    ]
)
"""``id``: 32 hexadecimal digits. ``number``: among those of this node and direction, from 0. ``outcome``: one of
``ledger.COLUMNS``. ``stored``: the message or its answer was in the store. ``disconnecting``: its node is off from time
to time."""
SHOWS = ("all", "slowest", "stored", "dropped", LATE, LOST, "traced")
"""What ``listed`` can select: all in the order in which they were due; the slowest first; those that were stored; that
expired, were evicted or refused; late; lost; traced."""
FILTERS = ("direction", "node", "outcome")
"""Columns of which a value can be chosen."""
_NOT_DROPPED = (DELIVERED, LATE, LOST)
_CHOSEN: Mapping[str, Callable[[pa.Table], Any]] = {
    "slowest": lambda rows: pc.is_valid(rows["us"]),
    "stored": lambda rows: rows["stored"],
    "dropped": lambda rows: pc.invert(pc.is_in(rows["outcome"], pa.array(_NOT_DROPPED))),
    LATE: lambda rows: pc.equal(rows["outcome"], LATE),
    LOST: lambda rows: pc.equal(rows["outcome"], LOST),
    "traced": lambda rows: rows["traced"],
}
assert {EXPIRED, EVICTED}.isdisjoint(_NOT_DROPPED)


def table(facts: Facts, traced: Collection[str]) -> pa.Table:
    """``traced``: ids of the messages and answers of which there are steps."""
    ledger = Ledger(facts)
    rows = [
        {
            "id": one.id,
            "direction": INBOUND if one.is_inbound else OUTBOUND,
            "node": one.node,
            "number": one.order,
            "outcome": ledger.column(one),
            "at_us": one.intended_us,
            "us": one.rtt_us if one.is_answered else None,
            "stored": ledger.was_stored(one),
            "disconnecting": ledger.is_off_at_times(one),
            "traced": one.id in traced or (bool(traced) and answer_of(one.id) in traced),
        }
        for one in facts.due
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA).sort_by([("at_us", "ascending"), ("id", "ascending")])


def answer_of(id: str) -> str:
    """The id of a message's answer, in hexadecimal digits."""
    return answer_id(bytes.fromhex(id)).hex()


def write(rows: pa.Table, files: RunFiles) -> None:
    """Raises ``StorageError`` and leaves no partial file."""
    with whole_file(files.traces_path) as file:
        pq.write_table(rows, file, compression="zstd")


def check(chosen: Mapping[str, str]) -> None:
    """Raises ``InvalidSetting`` for a value that there cannot be."""
    _one_of("show", chosen.get("show", ""), ("", *SHOWS))
    _one_of("direction", chosen.get("direction", ""), ("", INBOUND, OUTBOUND))
    _one_of("outcome", chosen.get("outcome", ""), ("", *COLUMNS))
    node = chosen.get("node", "")
    if node and not (node.isascii() and node.isdigit() and len(node) < 10):
        raise InvalidSetting("node", f"must be the number of a node, not {node!r:.40}")


def listed(files: RunFiles, chosen: Mapping[str, str], offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """How many messages are chosen by ``show`` and ``FILTERS``, and some of them. Nothing before the run is collected.

    Raises ``InvalidSetting``, as ``check``.
    """
    check(chosen)
    show, node = chosen.get("show", ""), chosen.get("node")
    if not files.traces_path.is_file():
        return 0, []
    rows = pq.read_table(files.traces_path, partitioning=None)
    for name in ("direction", "outcome"):
        if value := chosen.get(name):
            rows = rows.filter(pc.equal(rows[name], value))
    if node:
        rows = rows.filter(pc.equal(rows["node"], int(node)))
    if show in _CHOSEN:
        rows = rows.filter(_CHOSEN[show](rows))
    if show == "slowest":
        rows = rows.sort_by([("us", "descending"), ("at_us", "ascending")])
    return rows.num_rows, rows.slice(offset, limit).to_pylist()


def outcomes(files: RunFiles) -> Mapping[str, int]:
    """How many messages had each outcome, in the order of ``ledger.COLUMNS``; empty before the run is collected."""
    if not files.traces_path.is_file():
        return {}
    found = Counter(pq.read_table(files.traces_path, partitioning=None, columns=["outcome"])["outcome"].to_pylist())
    return {name: found[name] for name in COLUMNS}


def find(files: RunFiles, message: str) -> dict[str, Any] | None:
    """The row of one message."""
    if not files.traces_path.is_file():
        return None
    rows = pq.read_table(files.traces_path, partitioning=None, filters=[("id", "=", message)]).to_pylist()
    return rows[0] if rows else None


def _one_of(field: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise InvalidSetting(field, f"must be one of {', '.join(filter(None, known))}, not {value!r:.40}")
