"""Reads the records of one publication from the lake (``ways.Records``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from overlay.systems.silbops.load.plans import client_name
from overlay.systems.silbops.names import broker_name
from overlay.systems.silbops.system import SYSTEM
from telemetry.lake.message_rows import find as find_row
from telemetry.lake.message_rows import own_rows
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.silbops.objections import Against, objections
from telemetry.systems.silbops.ways import Delivery, Records, Step, Way, in_order, is_broker

MOST_SUBSCRIPTIONS = 20_000
"""That are looked at to say who did not get a publication: some tenths of a second."""


def find(files: RunFiles, lake: Lake, message: str) -> Way | None:
    """The way of a publication of a collected run."""
    row = find_row(files, message)
    if row is None:
        return None
    of = [("client", "=", row["publisher"]), ("number", "=", row["number"])]
    published = own_rows(lake, files.run, SYSTEM.name, "published", of)
    if not published:
        return None
    one = published[0]
    content = json.loads(one["notification"]), json.loads(one["context"]), one["scope"]
    if not row["about"]:  # it has never reached a broker
        return Way(Records(row, one["called_us"], *content))
    steps, deliveries = _steps(lake, files.run, row["about"]), _deliveries(lake, files.run, row)
    return Way(Records(row, one["called_us"], *content, steps, deliveries))


def without(way: Way, lake: Lake, run: str) -> list[Against] | None:
    """Clients that did not get it, and what says no; ``None``: there are too many subscriptions to look at."""
    before = [("called_us", "<=", way.records.sent_us)]
    tables = (own_rows(lake, run, SYSTEM.name, name, before) for name in ("subscribed", "unsubscribed", "contexts"))
    subscribed, unsubscribed, contexts = tables
    if len(subscribed) > MOST_SUBSCRIPTIONS:
        return None
    of, got = way.records, {one.client for one in way.records.deliveries}
    but = {*got, way.row["publisher"]}
    return objections(subscribed, unsubscribed, contexts, of.notification, of.context, of.scope, but)


def _steps(lake: Lake, run: str, about: str) -> list[Step]:
    steps = [
        Step(
            one["at_us"],
            broker_name(int(one["process"].rpartition("-")[2])),
            one["step"],
            _peer(one["peer"]),
            one["subscriptions"],
            one["candidates"],
            one["rows"],
            one["detail"],
        )
        for one in own_rows(lake, run, SYSTEM.name, "steps", [("about", "=", about)])
    ]
    return in_order(steps)


def _deliveries(lake: Lake, run: str, row: Mapping[str, Any]) -> list[Delivery]:
    key, _, _ = row["about"].partition("|")
    filters = [("publisher", "=", key), ("number", "=", row["number"])]
    rows = own_rows(lake, run, SYSTEM.name, "delivered", filters)
    found = [Delivery(one["client"], one["ids"], one["received_us"]) for one in rows]
    return sorted(found, key=lambda one: (one.received_us, one.client))


def _peer(name: str) -> str:
    """Brokers know a client by its 16 bytes."""
    return client_name(bytes.fromhex(name)) if name and not is_broker(name) else name
