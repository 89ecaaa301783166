"""A row for each notification, subscription and QUERY of a run, written when it is collected.

Counterpart: ``ways`` has everything about one of them. Of a subscription, ``us`` is T_S, and ``provider`` and ``note``
are of its first notification. Of a notification, ``us`` is the time from its sending to its last delivery that was not
from a cache. Of a QUERY, it is the time until its answer, and *delivered* the notifications in that. *Lost* and *in
window* are the oracle's (``overlay.systems.federation.measuring.oracle``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from overlay.core.errors import InvalidSetting
from overlay.systems.federation.measuring.oracle import Found, Missing
from overlay.systems.federation.measuring.records import Facts
from overlay.systems.federation.names import query_name
from overlay.systems.federation.rows import REFUSED, Noted, Notified, Queried, Subscribed
from overlay.systems.federation.wire.messages import Code
from telemetry.lake.message_rows import read
from telemetry.lake.runs import RunFiles

NOTIFICATION, SUBSCRIPTION, QUERY = KINDS = "notification", "subscription", "query"
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("client", pa.string(), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("scope", pa.string(), nullable=False),
        pa.field("entity", pa.string(), nullable=False),
        pa.field("provider", pa.string(), nullable=False),
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("us", pa.int64()),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("delivered", pa.int64(), nullable=False),
        pa.field("cached", pa.bool_(), nullable=False),
        pa.field("hops", pa.int64()),
        pa.field("lost", pa.int64(), nullable=False),
        pa.field("in_window", pa.int64(), nullable=False),
        pa.field("causes", pa.string(), nullable=False),
        pa.field("note", pa.string(), nullable=False),
        pa.field("traced", pa.bool_(), nullable=False),
    ]
)
"""``client`` published, subscribed or asked. ``scope`` may be several, ``entity`` is of notifications. ``outcome``:
satisfied, unsatisfied, accepted, unanswered or refused; of a QUERY answered, or the code of its answer in words. Texts
are empty where there is nothing."""

SHOWS = ("all", "slowest", "unsatisfied", "lost", "in_window", "cached", "traced")
"""What ``listed`` can select: all in the order of sending; the slowest first; subscriptions and QUERYs without a
notification, and notifications without a delivery; with lost pairs; with pairs in window; answered from a cache;
traced."""
FILTERS = ("kind", "scope", "entity", "provider", "client")
"""Columns of which a value can be chosen. A subscription to several scopes is found by each."""
_CHOSEN: Mapping[str, Callable[[pa.Table], Any]] = {
    "slowest": lambda rows: pc.is_valid(rows["us"]),
    "unsatisfied": lambda rows: pc.equal(rows["delivered"], 0),
    "lost": lambda rows: pc.greater(rows["lost"], 0),
    "in_window": lambda rows: pc.greater(rows["in_window"], 0),
    "cached": lambda rows: rows["cached"],
    "traced": lambda rows: rows["traced"],
}
Pair = tuple[str, int]


def table(facts: Facts, found: Found, traced: Collection[str]) -> pa.Table:
    """``traced``: what brokers reported steps of, as ``rows.Step.about``."""
    by_note: dict[Pair, list[Notified]] = defaultdict(list)
    by_subscription: dict[Pair, list[Notified]] = defaultdict(list)
    for one in facts.notifies:
        by_note[one.provider, one.note].append(one)
        by_subscription[one.client, one.number].append(one)
    missing: dict[Pair, list[Missing]] = defaultdict(list)
    for lack in found.missing:
        missing[lack.subscription.client, lack.subscription.number].append(lack)
        missing[lack.note.provider, lack.note.number].append(lack)
    rows: list[dict[str, Any]] = []
    for subscription in facts.subscriptions:
        key = subscription.client, subscription.number
        rows.append(_subscription(subscription, by_subscription[key]) | _missed(missing[key]))
    for note in facts.notes:
        key = note.provider, note.number
        rows.append(_notification(note, by_note[key]) | _missed(missing[key]))
    for row in rows:
        row["traced"] = about_of(row["id"]) in traced
    rows += [{**_query(one), "traced": query_name(one.client, one.req) in traced} for one in facts.queries]
    return pa.Table.from_pylist(rows, schema=SCHEMA).sort_by("at_us")


def listed(files: RunFiles, chosen: Mapping[str, str], offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """How many messages are chosen by ``show`` and ``FILTERS``, and some of them. Nothing before the run is collected.

    Raises ``InvalidSetting`` for an unknown ``show`` or ``kind``.
    """
    show = chosen.get("show") or "all"
    _one_of("show", show, SHOWS)
    _one_of("kind", chosen.get("kind", ""), ("", *KINDS))
    rows = read(files)
    if rows is None:
        return 0, []
    for name in FILTERS:
        if value := chosen.get(name):
            texts = pc.split_pattern(rows["scope"], ", ") if name == "scope" else None
            is_it = pc.equal(rows[name], value) if texts is None else _holds(texts, value)
            rows = rows.filter(is_it)
    if show in _CHOSEN:
        rows = rows.filter(_CHOSEN[show](rows))
    if show == "slowest":
        rows = rows.sort_by([("us", "descending"), ("at_us", "ascending")])
    return rows.num_rows, rows.slice(offset, limit).to_pylist()


def values(files: RunFiles) -> dict[str, list[str]]:
    """By column of ``FILTERS``, the values that there are."""
    rows = read(files, FILTERS)
    if rows is None:
        return {name: [] for name in FILTERS}
    found = {name: set(pc.unique(rows[name]).to_pylist()) for name in FILTERS}
    found["scope"] = {scope for several in found["scope"] for scope in several.split(", ")}
    return {name: sorted(several - {""}, key=lambda text: (len(text), text)) for name, several in found.items()}


def id_of(kind: str, client: str, number: int) -> str:
    """For addresses: ``n-p3-17``, ``s-c0-5``, ``q-c0-2``."""
    return f"{kind[0]}-{client}-{number}"


def about_of(id: str) -> str:
    """As ``rows.Step.about``: ``n|p3|17``. QUERYs have another number there (``rows.Queried.req``)."""
    kind, _, rest = id.partition("-")
    client, _, number = rest.rpartition("-")
    return f"{kind}|{client}|{number}"


# ---- inner


def _subscription(one: Subscribed, came: Iterable[Notified]) -> dict[str, Any]:
    came = sorted(came, key=lambda found: found.received_us)
    first = came[0] if came else None
    outcome = "refused" if one.reason == REFUSED else "satisfied" if came else "unsatisfied"
    return {
        "id": id_of(SUBSCRIPTION, one.client, one.number),
        "kind": SUBSCRIPTION,
        "client": one.client,
        "number": one.number,
        "scope": ", ".join(one.scopes),
        "entity": "",
        "provider": first.provider if first else "",
        "at_us": one.intended_us,
        "us": one.first_us - one.intended_us if one.first_us else None,
        "outcome": outcome,
        "delivered": len(came),
        "cached": one.cached,
        "hops": one.hops if first else None,
        "note": id_of(NOTIFICATION, first.provider, first.note) if first else "",
    }


def _notification(one: Noted, came: Iterable[Notified]) -> dict[str, Any]:
    came = list(came)
    direct = [found for found in came if not found.cached]
    outcome = "accepted" if one.accepted_us else "refused" if one.code else "unanswered"
    return {
        "id": id_of(NOTIFICATION, one.provider, one.number),
        "kind": NOTIFICATION,
        "client": one.provider,
        "number": one.number,
        "scope": one.scope,
        "entity": one.entity.replace("|", " "),
        "provider": one.provider,
        "at_us": one.published_us,
        "us": max(found.received_us for found in direct) - one.published_us if direct else None,
        "outcome": outcome,
        "delivered": len(came),
        "cached": any(found.cached for found in came),
        "hops": max((found.hops for found in came), default=None),
        "note": "",
    }


def _query(one: Queried) -> dict[str, Any]:
    code = Code(one.code)
    providers = dict.fromkeys(note.partition("|")[0] for note in one.notes)
    return {
        "id": id_of(QUERY, one.client, one.number),
        "kind": QUERY,
        "client": one.client,
        "number": one.number,
        "scope": ", ".join(one.scopes),
        "entity": "",
        "provider": ", ".join(providers),
        "at_us": one.intended_us,
        "us": one.ended_us - one.intended_us if code is Code.GOOD else None,
        "outcome": "answered" if code is Code.GOOD else code.name.lower().replace("_", " "),
        "delivered": len(one.notes),
        "cached": False,
        "hops": None,
        "note": "",
        **_missed(()),
    }


def _missed(missing: Iterable[Missing]) -> dict[str, Any]:
    causes = Counter(one.cause for one in missing)
    return {"lost": causes.pop("", 0), "in_window": causes.total(), "causes": ", ".join(sorted(causes))}


def _holds(texts: Any, value: str) -> Any:
    return pa.array([value in several for several in texts.to_pylist()])


def _one_of(field: str, value: str, known: Iterable[str]) -> None:
    known = tuple(known)
    if value not in known:
        raise InvalidSetting(field, f"must be one of {', '.join(filter(None, known))}, not {value!r:.40}")
