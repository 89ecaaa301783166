"""Deliveries of propagations as those of their single messages: the server's tables say what was in each.

A client reports a propagation (``overlay.systems.radiator.load.caller``); here it becomes a row for each pair of a
message and a recipient, published when its call was due. Pure, over columns.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from overlay.systems.radiator.measuring import Arrived, Facts, dropped_pairs
from overlay.systems.radiator.rows import Message, Missed, Propagation
from telemetry.statistics.metrics import Numbers

DELIVERED, DUPLICATE, UNKNOWN = "delivered", "duplicate", "unknown"
"""Verdicts: the first callback with a message, a further one, and one of which the server has no record."""


def pairs(deliveries: pa.Table, samples: pa.Table, own: Mapping[str, pa.Table]) -> pa.Table:
    """A row for each message in each delivery, with ``verdict``, and with ``accepted_us`` and ``emitted_us``."""
    emitted, accepted = own["propagations"], own["messages"]
    at = pc.index_in(_texts(deliveries["publication"]), value_set=_texts(emitted["name"]))
    known = pc.is_valid(at)
    rows, at = deliveries.filter(known), at.filter(known)
    originals = emitted["messages"].combine_chunks().take(at)
    of_row = pc.list_parent_indices(originals)
    emission, number = at.take(of_row), pc.list_flatten(originals)
    key = _keys(_texts(emitted["epoch"]).take(emission), number)
    message = pc.index_in(key, value_set=_keys(_texts(accepted["epoch"]), accepted["number"].combine_chunks()))
    call = _texts(accepted["name"]).take(message)
    intended = samples["intended_us"].combine_chunks().take(pc.index_in(call, value_set=_texts(samples["entity"])))
    found = rows.take(of_row)
    found = _with(found, "publication", pc.coalesce(call, key))
    found = _with(found, "published_us", pc.coalesce(intended, found["published_us"].combine_chunks()))
    copy = _copies(message, found["client"], found["received_us"])
    found = _with(found, "copy", copy)
    found = found.append_column("verdict", pc.if_else(pc.equal(copy, 1), DELIVERED, DUPLICATE))
    found = found.append_column("accepted_us", accepted["at_us"].combine_chunks().take(message))
    found = found.append_column("emitted_us", emitted["at_us"].combine_chunks().take(emission))
    found = found.append_column("message", message)
    found = found.append_column("emission", emission)
    return pa.concat_tables([found, _unknown(deliveries.filter(pc.invert(known)), found.schema)])


def arrived(found: pa.Table, facts: Facts) -> Arrived:
    """The figures of ``pairs``."""
    found = found.filter(pc.is_valid(found["message"]))
    first = found.filter(pc.equal(found["copy"], 1))
    published, accepted, emitted, received = (
        first[name].to_numpy() for name in ("published_us", "accepted_us", "emitted_us", "received_us")
    )
    reached = found.group_by(["emission", "client"]).aggregate([]).num_rows
    return Arrived(
        pairs=first.num_rows,
        propagations=reached,
        duplicates=found.num_rows - first.num_rows,
        lags=np.sort(received - published),
        parts=(_sum(accepted - published), _sum(emitted - accepted), _sum(received - emitted)),
        dropped=_not_in(first, facts),
    )


def facts_of(own: Mapping[str, pa.Table]) -> Facts:
    """The server's rows."""
    facts = Facts()
    for name, kind in (("messages", Message), ("propagations", Propagation), ("missed", Missed)):
        for row in own[name].to_pylist():
            at_us, _ = row.pop("at_us"), row.pop("process")
            facts.add_row(at_us, kind(**row))
    return facts


def _sum(times: Numbers) -> float:
    return float(np.sum(times))


def _not_in(first: pa.Table, facts: Facts) -> int:
    """How many pairs that the server dropped did not arrive."""
    dropped = dropped_pairs(facts)
    places = {key: place for place, key in enumerate(facts.accepted)}
    codes = [places[epoch, number] << 32 | client for epoch, number, client in dropped if (epoch, number) in places]
    reached = first["message"].to_numpy().astype(np.int64) << 32 | first["client"].to_numpy()
    return int(np.sum(~np.isin(np.array(codes, dtype=np.int64), reached)))


def _copies(message: pa.Array, client: pa.ChunkedArray, received: pa.ChunkedArray) -> pa.Array:
    """1 for the first arrival of a message at a client, 2 for further ones."""
    codes = message.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) << 32 | client.to_numpy()
    order = np.argsort(received.to_numpy(), kind="stable")
    copies = np.full(len(codes), 2, dtype=np.int64)
    copies[order[np.unique(codes[order], return_index=True)[1]]] = 1
    return pa.array(copies)


def _unknown(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    rows = _with(rows, "publication", _texts(rows["publication"]))
    for field in schema:
        if field.name not in rows.column_names:
            values = [UNKNOWN] * len(rows) if field.name == "verdict" else [None] * len(rows)
            rows = rows.append_column(field.name, pa.array(values, field.type))
    return rows.select(schema.names).cast(schema)


def _texts(column: pa.ChunkedArray) -> pa.Array:
    return column.cast(pa.string()).combine_chunks()


def _keys(epochs: pa.Array, numbers: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(epochs, numbers.cast(pa.string()), "-")


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)
