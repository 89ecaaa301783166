"""Subscribers that a publication did not reach, and what says no: by what they had set when it was published. Pure.

Brokers may know less or more at that instant; their steps say what they did. Counterpart: ``way_files`` reads the rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from overlay.systems.silbops.content.filters import matches, read_filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.tables.explaining import objection
from overlay.systems.silbops.tables.rows import Context, Key, Subscription

Row = Mapping[str, Any]
WANTED = "nothing: it should have got it, or changed meanwhile"


class Against(NamedTuple):
    client: str
    subscriptions: int
    candidates: int
    """Of these, whose content matches."""
    says: str
    """What says no: of the first candidate, else of the first subscription."""


def objections(
    subscribed: Iterable[Row],
    unsubscribed: Iterable[Row],
    contexts: Iterable[Row],
    notification: Values,
    context: Values,
    scope: str,
    but: Collection[str],
) -> list[Against]:
    """Rows of ``overlay.systems.silbops.rows``, of before the publication, of all clients. ``but``: those that got it,
    and its publisher. Those whose content matches come first."""
    admit = parse(scope) if scope else None
    known = _present(subscribed, unsubscribed)
    values = {row["client"]: json.loads(row["values"]) for row in _by_time(contexts)}
    found = []
    for client, rows in known.items():
        if client in but:
            continue
        own = Context(1, values[client]) if client in values else None
        several = [_read(row) for row in rows]
        candidates = [one for one in several if matches(one.filter, notification)]
        says = [objection(one, own, notification, context, admit) for one in candidates or several[:1]]
        first = WANTED if "" in says else says[0]
        found.append(Against(client, len(several), len(candidates), first))
    return sorted(found, key=lambda one: (not one.candidates, len(one.client), one.client))


def _present(subscribed: Iterable[Row], unsubscribed: Iterable[Row]) -> Mapping[str, list[Row]]:
    """The newest of each number that was not ended since, by client."""
    newest = {(row["client"], row["id"]): row for row in _by_time(subscribed)}
    for row in unsubscribed:
        one = newest.get((row["client"], row["id"]))
        if one is not None and one["called_us"] <= row["called_us"]:
            del newest[row["client"], row["id"]]
    found: dict[str, list[Row]] = defaultdict(list)
    for (client, _), row in sorted(newest.items()):
        found[client].append(row)
    return found


def _read(row: Row) -> Subscription:
    scope = parse(row["scope"]) if row["scope"] else None
    return Subscription(Key(row["client"].encode(), row["id"]), read_filter(json.loads(row["filter"])), scope)


def _by_time(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["called_us"])
