"""A row for each publication of measuring, written when a run is collected.

Counterpart: ``ways`` has everything about one of them. ``us`` is the time from its intended instant to its last
delivery. *Due*, *lost* and *spurious* are the oracle's (``overlay.systems.silbops.measuring.oracle``).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from overlay.core.errors import InvalidSetting
from overlay.systems.silbops.measuring.oracle import Arrival, Found, Missing, Pair
from overlay.systems.silbops.measuring.records import Facts
from overlay.systems.silbops.rows import Published, Refused
from overlay.systems.silbops.system import SYSTEM
from telemetry.lake.message_rows import own_rows, read
from telemetry.lake.runs import Lake, RunFiles

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("publisher", pa.string(), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("attributes", pa.string(), nullable=False),
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("us", pa.int64()),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("due", pa.int64(), nullable=False),
        pa.field("delivered", pa.int64(), nullable=False),
        pa.field("kept", pa.int64(), nullable=False),
        pa.field("lost", pa.int64(), nullable=False),
        pa.field("excused", pa.int64(), nullable=False),
        pa.field("causes", pa.string(), nullable=False),
        pa.field("spurious", pa.int64(), nullable=False),
        pa.field("repeats", pa.int64(), nullable=False),
        pa.field("traced", pa.bool_(), nullable=False),
        pa.field("about", pa.string(), nullable=False),
    ]
)
"""``attributes``: names, with commas. ``outcome``: delivered, undelivered or refused. The others count clients: those
to which it is due, to which it was delivered, of them those that were away meanwhile, those that lost it, those that
did not get it because of a fault or the limits of what is kept, and those that should not have got it. ``repeats``:
copies that an application got. ``about``: as ``rows.Step.about``, empty if its publisher never attached."""

SHOWS = ("all", "slowest", "undelivered", "kept", "lost", "excused", "spurious", "refused", "traced")
"""What ``listed`` can select: all in the order of publication; the slowest first; those that reached no client; those
that a client got after it was away; with lost, excused and spurious pairs; refused; traced."""
FILTERS = ("publisher", "subscriber", "attribute")
"""A publisher; a client that got it; the name of an attribute that it has."""
_CHOSEN: Mapping[str, Callable[[pa.Table], Any]] = {
    "slowest": lambda rows: pc.is_valid(rows["us"]),
    "undelivered": lambda rows: pc.equal(rows["delivered"], 0),
    "kept": lambda rows: pc.greater(rows["kept"], 0),
    "lost": lambda rows: pc.greater(rows["lost"], 0),
    "excused": lambda rows: pc.greater(rows["excused"], 0),
    "spurious": lambda rows: pc.greater(rows["spurious"], 0),
    "refused": lambda rows: pc.equal(rows["outcome"], "refused"),
    "traced": lambda rows: rows["traced"],
}


def table(facts: Facts, found: Found, traced: Collection[str]) -> pa.Table:
    """``traced``: what brokers reported steps of, as ``rows.Step.about``."""
    came: dict[Pair, list[Arrival]] = defaultdict(list)
    for arrival in facts.arrivals():
        came[arrival.publication].append(arrival)
    missing: dict[Pair, list[Missing]] = defaultdict(list)
    for lack in found.missing:
        missing[lack.publication].append(lack)
    refused = {(one.client, one.number) for one in facts.rows[Refused]}
    keys = {client: key for key, client in facts.keys.items()}
    kept, unwanted = Counter(found.kept), Counter(found.unwanted)
    rows = []
    for one in facts.rows[Published]:
        pair = one.client, one.number
        if pair not in found.owed:
            continue
        key = keys.get(one.client)
        about = "" if key is None else f"{key}|{one.number}"
        counted = {"due": found.owed[pair], "kept": kept[pair], "spurious": unwanted[pair]}
        rest = {"about": about, "traced": about in traced}
        rows.append(_row(one, came[pair], pair in refused) | _missed(missing[pair]) | counted | rest)
    return pa.Table.from_pylist(rows, schema=SCHEMA).sort_by("at_us")


def listed(
    files: RunFiles, lake: Lake, chosen: Mapping[str, str], offset: int, limit: int
) -> tuple[int, list[dict[str, Any]]]:
    """How many publications are chosen by ``show`` and ``FILTERS``, and some of them. Nothing before the run is
    collected.

    Raises ``InvalidSetting`` for an unknown ``show``.
    """
    show = chosen.get("show") or "all"
    if show not in SHOWS:
        raise InvalidSetting("show", f"must be one of {', '.join(SHOWS)}, not {show!r:.40}")
    rows = read(files)
    if rows is None:
        return 0, []
    if publisher := chosen.get("publisher"):
        rows = rows.filter(pc.equal(rows["publisher"], publisher))
    if attribute := chosen.get("attribute"):
        rows = rows.filter(pa.array([attribute in names.split(", ") for names in rows["attributes"].to_pylist()]))
    if subscriber := chosen.get("subscriber"):
        rows = rows.filter(pc.is_in(rows["about"], value_set=pa.array(_got(lake, files.run, subscriber), pa.string())))
    if show in _CHOSEN:
        rows = rows.filter(_CHOSEN[show](rows))
    if show == "slowest":
        rows = rows.sort_by([("us", "descending"), ("at_us", "ascending")])
    return rows.num_rows, rows.slice(offset, limit).to_pylist()


def publishers(files: RunFiles) -> list[str]:
    rows = read(files, ["publisher"])
    names = [] if rows is None else pc.unique(rows["publisher"]).to_pylist()
    return sorted(names, key=lambda name: (len(name), name))


def id_of(client: str, number: int) -> str:
    """For addresses: ``publisher-3-17``."""
    return f"{client}-{number}"


# ---- inner


def _row(one: Published, came: Iterable[Arrival], is_refused: bool) -> dict[str, Any]:
    came = list(came)
    clients = {arrival.client for arrival in came}
    last_us = max((arrival.received_us for arrival in came), default=None)
    return {
        "id": id_of(one.client, one.number),
        "publisher": one.client,
        "number": one.number,
        "attributes": ", ".join(sorted(name for name in json.loads(one.notification) if not name.startswith("@"))),
        "at_us": one.intended_us,
        "us": None if last_us is None else last_us - one.intended_us,
        "outcome": "refused" if is_refused else "delivered" if clients else "undelivered",
        "delivered": len(clients),
        "repeats": len(came) - len(clients),
    }


def _missed(missing: Iterable[Missing]) -> dict[str, Any]:
    causes = Counter(one.cause for one in missing)
    return {"lost": causes.pop("", 0), "excused": causes.total(), "causes": ", ".join(sorted(causes))}


def _got(lake: Lake, run: str, client: str) -> list[str]:
    rows = own_rows(lake, run, SYSTEM.name, "delivered", [("client", "=", client)])
    return [f"{row['publisher']}|{row['number']}" for row in rows]
