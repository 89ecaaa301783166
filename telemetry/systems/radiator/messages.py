"""A row for each message of a run: its times, and how many recipients got it. Written when the run is collected.

Counterpart: ``ways`` has everything about one message. The four states of a message's pairs add up to ``due``, and
over all messages to the measures of the run (``overlay.systems.radiator.measuring``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from telemetry.lake.message_rows import read
from telemetry.lake.runs import RunFiles
from telemetry.statistics.metrics import Numbers

LATE = 2
"""A pair is late if its lag is more than so many times the 95th percentile of all pairs of the run."""
SHIFT = 32
"""A pair as one number: the row of the message, shifted, and the number of the client."""

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("client", pa.int64()),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("attempts", pa.int64(), nullable=False),
        pa.field("due_us", pa.int64(), nullable=False),
        pa.field("sent_us", pa.int64(), nullable=False),
        pa.field("ended_us", pa.int64(), nullable=False),
        pa.field("epoch", pa.string()),
        pa.field("number", pa.int64()),
        pa.field("accepted_us", pa.int64()),
        pa.field("due", pa.int64(), nullable=False),
        pa.field("delivered", pa.int64(), nullable=False),
        pa.field("retained", pa.int64(), nullable=False),
        pa.field("dropped", pa.int64(), nullable=False),
        pa.field("failed", pa.int64(), nullable=False),
        pa.field("late", pa.int64(), nullable=False),
        pa.field("p50_us", pa.int64()),
        pa.field("p95_us", pa.int64()),
        pa.field("propagations", pa.int64(), nullable=False),
        pa.field("traced", pa.bool_(), nullable=False),
    ]
)
"""``client`` is the sender, unknown for a message whose client reported nothing; then its times are that of acceptance.
A message that was not accepted has no ``epoch``, ``number`` and ``accepted_us``."""

VIEWS = ("all", "failed", "retained", "refused", "slowest")
"""What ``listed`` can select: all in the order of calls; those with failed or late pairs; with retained or dropped
ones; not accepted; the slowest first."""


def table(samples: pa.Table, found: pa.Table, own: Mapping[str, pa.Table]) -> pa.Table:
    """``found`` has the pairs (``pairs.pairs``), ``own`` the server's tables."""
    accepted = _of_accepted(found, own)
    name = _texts(own["messages"]["name"])
    entity = _texts(samples["entity"])
    at = pc.index_in(entity, value_set=name)
    silent = pc.invert(pc.is_in(name, value_set=entity))
    rows = pa.table(
        {
            "id": _ids(entity, samples),
            **{column: samples[column] for column in ("client", "attempts", "sent_us", "ended_us")},
            "outcome": _texts(samples["outcome"]),
            "due_us": samples["intended_us"],
            **{column: accepted[column].combine_chunks().take(at) for column in accepted.column_names},
        }
    )
    unheard = accepted.filter(silent)
    times = dict.fromkeys(("due_us", "sent_us", "ended_us"), unheard["accepted_us"])
    others = {"id": name.filter(silent), "outcome": _all(unheard, ""), "attempts": _all(unheard, 0), **times}
    columns = {column: unheard[column] for column in accepted.column_names}
    client = pa.nulls(len(unheard), pa.int64())
    rows = pa.concat_tables([_fitted(rows), _fitted(pa.table({"client": client, **others, **columns}))])
    return rows.sort_by("due_us")


def listed(files: RunFiles, view: str, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """How many messages a view of ``VIEWS`` has, and some of them. Nothing before the run is collected."""
    rows = read(files)
    if rows is None:
        return 0, []
    if view == "slowest":
        rows = rows.filter(pc.is_valid(rows["p95_us"])).sort_by([("p95_us", "descending"), ("due_us", "ascending")])
    elif view in _CHOSEN:
        rows = rows.filter(_CHOSEN[view](rows))
    return rows.num_rows, rows.slice(offset, limit).to_pylist()


_CHOSEN = {
    "failed": lambda rows: pc.or_(pc.greater(rows["failed"], 0), pc.greater(rows["late"], 0)),
    "retained": lambda rows: pc.or_(pc.greater(rows["retained"], 0), pc.greater(rows["dropped"], 0)),
    "refused": lambda rows: pc.is_null(rows["number"]),
}


# ---- accepted messages


def _of_accepted(found: pa.Table, own: Mapping[str, pa.Table]) -> pa.Table:
    """A row for each accepted message, in their order, with the counts of its pairs."""
    messages = own["messages"]
    count, due = len(messages), messages["due"].to_numpy()
    first = found.filter(pc.and_(pc.is_valid(found["message"]), pc.equal(found["copy"], 1)))
    of, client = first["message"].to_numpy().astype(np.int64), first["client"].to_numpy()
    lags = first["received_us"].to_numpy() - first["published_us"].to_numpy()
    delivered = np.bincount(of, minlength=count)
    emitted, propagations = _emitted(own, count)
    pending, dropped = _missed(own, of << SHIFT | client, count)
    left = np.clip(due - emitted - pending, 0, None)
    is_last = _is_last(_texts(messages["epoch"]))
    retained, lost = left * is_last, left * ~is_last  # what was pending when a server crashed is lost
    late = np.bincount(of[lags > LATE * _ranked(np.sort(lags), 95)], minlength=count) if len(lags) else delivered
    return pa.table(
        {
            "epoch": _texts(messages["epoch"]),
            "number": messages["number"],
            "accepted_us": messages["at_us"],
            "due": due,
            "delivered": delivered,
            "retained": retained,
            "dropped": dropped + lost,
            "failed": np.clip(due - delivered - retained - dropped - lost, 0, None),
            "late": late,
            **_quantiles(of, lags, count),
            "propagations": propagations,
            "traced": pc.is_in(_key(messages, "number"), value_set=_key(own["queued"], "message")),
        }
    )


def _emitted(own: Mapping[str, pa.Table], count: int) -> tuple[Numbers, Numbers]:
    """Recipients of the propagations that hold each message, and the number of these."""
    emitted = own["propagations"]
    of, row = _rows_of(emitted, own)
    recipients = emitted["recipients"].to_numpy()[row]
    return np.bincount(of, recipients, minlength=count).astype(np.int64), np.bincount(of, minlength=count)


def _missed(own: Mapping[str, pa.Table], delivered: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """Of each message, the pairs that were pending when they were dropped, and all that were dropped."""
    missed = own["missed"]
    of, row = _rows_of(missed, own)
    client = _numbers(missed["client"])[row]
    was_pending = pc.equal(_texts(missed["propagation"]), "").to_numpy(zero_copy_only=False)[row]
    is_dropped = pc.not_equal(_texts(missed["outcome"]), "failed").to_numpy(zero_copy_only=False)[row]
    pairs = np.setdiff1d((of << SHIFT | client)[is_dropped], delivered)
    return np.bincount(of[was_pending], minlength=count), np.bincount(pairs >> SHIFT, minlength=count)


def _rows_of(rows: pa.Table, own: Mapping[str, pa.Table]) -> tuple[Numbers, Numbers]:
    """Of rows with an epoch and a list of messages: the accepted message of each item, and its row."""
    lists = rows["messages"].combine_chunks()
    row = pc.list_parent_indices(lists)
    key = _joined(_texts(rows["epoch"]).take(row), pc.list_flatten(lists))
    of = pc.index_in(key, value_set=_key(own["messages"], "number"))
    known = pc.is_valid(of)
    return of.filter(known).to_numpy().astype(np.int64), row.filter(known).to_numpy().astype(np.int64)


def _quantiles(of: Numbers, lags: Numbers, count: int) -> dict[str, pa.Array]:
    """Nearest ranks of the lags of each message; none without deliveries."""
    lags = lags[np.lexsort((lags, of))]
    sizes = np.bincount(of, minlength=count)
    begins = np.cumsum(sizes) - sizes
    found = {}
    for percent in (50, 95):
        at = begins + np.maximum(1, np.ceil(sizes * percent / 100).astype(np.int64)) - 1
        values = lags[np.minimum(at, max(0, len(lags) - 1))] if len(lags) else np.zeros(count, dtype=np.int64)
        found[f"p{percent}_us"] = pa.array(values, mask=sizes == 0)
    return found


def _ranked(values: Numbers, percent: int) -> int:
    return int(values[max(1, -(-len(values) * percent // 100)) - 1])


def _is_last(epochs: pa.Array) -> Numbers:
    """Whether a message was accepted by the last server that accepted any."""
    if not len(epochs):
        return np.zeros(0, dtype=bool)
    return np.asarray(pc.equal(epochs, epochs[-1]).to_numpy(zero_copy_only=False))


def _numbers(ids: pa.ChunkedArray) -> Numbers:
    """The numbers of clients by their ids; 0 for an id without one, which no workload has."""
    digits = pc.extract_regex(_texts(ids), pattern=r"(?P<number>[0-9]{1,9})$").field("number")
    return np.asarray(pc.coalesce(digits, "0").cast(pa.int64()).to_numpy(zero_copy_only=False))


def _ids(entity: pa.Array, samples: pa.Table) -> pa.Array:
    """The name of a call, or for one that was never sent, its client and its instant."""
    client, at = (samples[name].cast(pa.string()).combine_chunks() for name in ("client", "intended_us"))
    return pc.if_else(pc.equal(entity, ""), pc.binary_join_element_wise(client, at, "."), entity)


def _key(rows: pa.Table, number: str) -> pa.Array:
    return _joined(_texts(rows["epoch"]), rows[number].combine_chunks())


def _joined(epochs: pa.Array, numbers: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(epochs, numbers.cast(pa.string()), "-")


def _texts(column: pa.ChunkedArray) -> pa.Array:
    found = column.cast(pa.string())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _all(rows: pa.Table, value: Any) -> pa.Array:
    return pa.array([value] * len(rows))


def _fitted(rows: pa.Table) -> pa.Table:
    columns = {field.name: rows[field.name].cast(field.type) for field in SCHEMA}
    for name in ("due", "delivered", "retained", "dropped", "failed", "late", "propagations"):
        columns[name] = pc.fill_null(columns[name], 0)
    columns["traced"] = pc.fill_null(columns["traced"], False)
    return pa.table(columns, schema=SCHEMA)
