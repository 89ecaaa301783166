"""Every message of a recorded run, in the order in which it was sent: a row each.

Counterparts: ``overlay.journal.recording`` has what each broker received and sent; this joins the two ends of each
message, and says of which query it is. A message of a client has one recorded end, since clients record nothing::

    broker-0.1.recording   sent 17 ─────┐
                                        ├──> one row: left 17, arrived 19, from 0 to 3, a request, of query a1b2
    broker-3.1.recording   received 19 ─┘

All brokers of a run share one host's monotonic zero, so their times compare.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from overlay.core.addresses import Address, format_address
from overlay.core.errors import WireError
from overlay.journal.recording import BadRecording, Recording, What, recordings_in
from overlay.systems.context_broker.wire.codec import code_of, parse
from overlay.systems.context_broker.wire.extensions import HopData, Lookahead
from overlay.systems.context_broker.wire.kinds import Family
from overlay.systems.context_broker.wire.messages import Ack, ContextRequest, ContextResponse, Nack
from overlay.systems.context_broker.wire.table import CODES, LAYOUTS, AnyMessage
from telemetry.lake import overviews
from telemetry.lake.datagrams import InOrder
from telemetry.lake.overviews import Overview
from telemetry.lake.parquet import read_table
from telemetry.lake.runs import RunFiles
from telemetry.lake.storage import whole_file
from telemetry.systems.context_broker.names import broker_index
from telemetry.systems.context_broker.traces import id_of

MOST_MESSAGES = 500_000
"""Of one run that are kept, the first ones; beyond, the file says until when. Meanwhile they take 200 bytes each."""
TEXT_BYTES = 160
"""Of each datagram's beginning that are kept."""
ROW_GROUP = 16_384
"""Rows that are read at a time: a page of messages is a second of a busy run."""
OUTSIDE = -1
"""What an end of a message is where it is no broker of the run: a client, or the launcher."""

FAMILIES = tuple(family.value for family in Family)
UNREADABLE = -1
"""The code of a datagram that claims none that is known."""
UNREADABLE_KIND = ("unreadable", Family.UPKEEP.value)

SCHEMA = pa.schema(
    [
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("arrived_us", pa.int64()),
        pa.field("sender", pa.int32(), nullable=False),
        pa.field("receiver", pa.int32(), nullable=False),
        pa.field("code", pa.int16(), nullable=False),
        pa.field("bytes", pa.int32(), nullable=False),
        pa.field("lost", pa.bool_(), nullable=False),
        pa.field("query", pa.string()),
        pa.field("text", pa.string(), nullable=False),
    ]
)
"""``at_us`` is when it was sent, or, of one from outside, when it arrived; microseconds since the deployment's zero.
``lost``: it went to a broker that still recorded, and never arrived."""


def write(files: RunFiles) -> list[str]:
    """Put the messages of a run's recordings, where it has any, into its ``messages_path``; what could not be read.

    Raises ``StorageError`` with nothing half-written.
    """
    recordings, wrong = [], []
    for path in recordings_in(files.journal_directory):
        try:
            recordings.append(Recording(path))
        except BadRecording as error:
            wrong.append(str(error))
    if not recordings:
        return wrong
    joined = _Joined(recordings)
    joined.read()
    with whole_file(files.messages_path) as file:
        pq.write_table(joined.table(), file, compression="zstd", row_group_size=ROW_GROUP)
    return wrong


class _Joined:
    """The messages of a run while its recordings are read side by side."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._recordings = recordings
        self._order = InOrder(recordings)
        self._index = {one.begin.address: _index_of(one) for one in recordings}
        self._times = array("q")
        self._arrivals = array("q")
        """-1 where none is known."""
        self._ends = array("i")
        """Sender and receiver of each, in turn."""
        self._codes = array("h")
        self._sizes = array("i")
        self._queries: list[str | None] = []
        self._texts: list[str] = []
        self._names = _Names()
        self._last: dict[int, int] = {}
        """By broker, the time of the last that it recorded."""
        self._kept_until_us: int | None = None

    def read(self) -> None:
        for number, is_new, (at, own, what, other, data) in self._order:
            at_us = at // 1000
            if len(self._times) >= MOST_MESSAGES:
                self._kept_until_us = at_us
                return
            self._last[self._index[own]] = at_us
            if not is_new:
                self._arrivals[number] = at_us
            elif what == What.SENT:
                self._add(at_us, own, other, data)
            else:
                self._add(at_us, other, own, data)
                self._arrivals[number] = at_us

    def _add(self, at_us: int, source: Address, to: Address, data: bytes) -> None:
        message = unwrapped(data)
        self._times.append(at_us)
        self._arrivals.append(-1)
        self._ends.extend((self._index.get(source, OUTSIDE), self._index.get(to, OUTSIDE)))
        code = code_of(data) if message is None else CODES[type(message)]
        self._codes.append(code if code in LAYOUTS else UNREADABLE)
        self._sizes.append(len(data))
        self._queries.append(self._names.query_of(message, source, to) if message is not None else None)
        self._texts.append(data[:TEXT_BYTES].decode(errors="replace"))

    def table(self) -> pa.Table:
        times, arrivals = np.array(self._times), np.array(self._arrivals)
        ends = np.array(self._ends, np.int32).reshape(-1, 2)
        lost = np.zeros(len(times), bool)
        for (_, to, _), waiting in self._order.under_way.items():
            last = self._last.get(self._index[to], -1)
            for row in waiting:  # what was sent later is unknown
                lost[row] = times[row] < last
        columns = [times, pa.array(arrivals, mask=arrivals < 0), ends[:, 0], ends[:, 1], np.array(self._codes)]
        columns += [np.array(self._sizes), lost, pa.array(self._queries, pa.string()), pa.array(self._texts)]
        said: dict[str, str] = {} if self._kept_until_us is None else {"kept_until_us": str(self._kept_until_us)}
        arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        brokers = {format_address(address): index for address, index in self._index.items()}
        said |= {"full": ",".join(self._full()), "brokers": json.dumps(brokers)}
        return pa.Table.from_arrays(arrays, schema=SCHEMA.with_metadata(said))

    def _full(self) -> list[str]:
        return [one.begin.name for one in self._recordings if one.end == What.FULL]


class _Names:
    """Of which query a message is. An answer does not carry the query's timestamp: it is of its consumer's last."""

    def __init__(self) -> None:
        self._by_stamp: dict[tuple[Address, int], str] = {}
        self._by_key: dict[tuple[Address, tuple[str, str, str]], str] = {}
        self._by_asker: dict[tuple[Address, Address], str] = {}

    def query_of(self, message: AnyMessage, source: Address, to: Address) -> str | None:
        if isinstance(message, ContextRequest | Lookahead):
            consumer = message.hops[0] if message.hops else source
            return self._known(consumer, message, source, to)
        if isinstance(message, ContextResponse):
            return self._by_key.get((message.hops[0] if message.hops else to, message.key))
        if isinstance(message, Nack):
            return self._by_stamp.get((message.requester, message.timestamp))
        if isinstance(message, Ack):
            return self._by_asker.get((to, source)) if message.operation == "ContextRequest" else None
        return None

    def _known(self, consumer: Address, message: ContextRequest | Lookahead, source: Address, to: Address) -> str:
        query = self._by_stamp.get((consumer, message.timestamp))
        if query is None:
            query = id_of((format_address(consumer), message.timestamp, "|".join(message.key)))
            self._by_stamp[consumer, message.timestamp] = query
            self._by_key[consumer, message.key] = query
            self._by_asker[source, to] = query
        return query


def _index_of(recording: Recording) -> int:
    index = broker_index(recording.begin.process)
    return OUTSIDE if index is None else index


# ---- reading


def unwrapped(data: bytes) -> AnyMessage | None:
    """The message of a datagram, or the one that is wrapped in it; ``None`` where it is none."""
    try:
        message = parse(data)
        return parse(message.message) if isinstance(message, HopData) else message
    except WireError:
        return None


def kind_of(code: int) -> tuple[str, str]:
    """What a message with this code is called, and its family; of a wrapped one those of what is in it."""
    layout = LAYOUTS.get(code)
    return UNREADABLE_KIND if layout is None else (layout.short, layout.family.value)


def overview(path: Path) -> Overview | None:
    """``None`` where there are no messages. Raises ``StorageError`` for a damaged file, as ``between``."""
    if not path.is_file():
        return None
    table = read_table(path, ["at_us", "arrived_us", "code"])
    if not table.num_rows:
        return None
    families = dict.fromkeys(FAMILIES, 0)
    for code, count in zip(*np.unique(table["code"].to_numpy(), return_counts=True), strict=True):
        families[kind_of(int(code))[1]] += int(count)
    said: Mapping[bytes, bytes] = table.schema.metadata or {}
    until = said.get(b"kept_until_us")
    return overviews.overview(
        table["at_us"].to_numpy(),
        table["arrived_us"].to_numpy(),  # floats, and of one that did not arrive no number
        families,
        kept_until_us=None if until is None else int(until),
        brokers=json.loads(said.get(b"brokers", b"{}")),
        full=[name for name in said.get(b"full", b"").decode().split(",") if name],
    )


def between(
    path: Path, from_us: int, to_us: int, query: str | None, offset: int, limit: int
) -> tuple[int, list[dict[str, Any]]]:
    """How many messages were sent from ``from_us`` to before ``to_us``, of ``query`` alone where one is named, and
    ``limit`` of them from ``offset`` on.
    """
    filters: list[tuple[str, str, Any]] = [("at_us", ">=", from_us), ("at_us", "<", to_us)]
    if query is not None:
        filters.append(("query", "=", query))
    table = read_table(path, filters=filters)
    return table.num_rows, table.slice(offset, limit).to_pylist()
