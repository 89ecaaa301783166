"""Searching and exporting the operation log of a network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils.dateparse import parse_date, parse_datetime

from brokerweb.kit.tables import Table
from brokerweb.networks.models import Network
from brokerweb.operationlog.entries import LOST, OUTCOMES
from brokerweb.operationlog.models import Done, Operation, WorstQuery
from brokerweb.systems.registry import web_of
from overlay.core.errors import InvalidSetting, shown

MOST_EXPORTED = 50_000
MOST_TYPED = 200
FILTERS = ("who", "entity", "op", "outcome", "provider", "broker", "from", "to")
COLUMNS = (
    *("at", "who", "token", "via", "op", "key", "provider", "broker_index", "outcome", "status"),
    *("took_us", "hops", "strategy", "walk", "sentence", "count"),
)
SLOW, FAILED = "slow", "failed"
WORST = (SLOW, FAILED)


def of_network(network: Network) -> QuerySet[Operation]:
    """Its log, newest first."""
    return Operation.objects.filter(network=network.pk)


def matching(rows: QuerySet[Operation], asked: Mapping[str, str]) -> QuerySet[Operation]:
    """By ``FILTERS``; empty values do not count. Raises ``InvalidSetting``."""
    found = {name: value for name in FILTERS if (value := asked.get(name, "").replace("\0", "").strip())}
    for name, value in found.items():
        if len(value) > MOST_TYPED:
            raise InvalidSetting(name, f"accepts at most {MOST_TYPED} characters")
    if who := found.get("who"):
        rows = rows.filter(Q(who=who) | Q(token=who))
    for word in found.get("entity", "").split()[:10]:
        rows = rows.filter(key__icontains=word)
    for name, column in (("op", "op"), ("provider", "source")):
        if name in found:
            rows = rows.filter(**{column: found[name]})
    if outcome := found.get("outcome"):
        rows = rows.filter(outcome__in=_outcomes(outcome))
    if broker := found.get("broker"):
        if not (broker.isascii() and broker.isdigit() and len(broker) < 8):
            raise InvalidSetting("broker", f"must be the index of a broker, not {shown(broker, 40)}")
        rows = rows.filter(server=int(broker))
    for name, comparison in (("from", "at__gte"), ("to", "at__lt")):
        if name in found:
            rows = rows.filter(**{comparison: _instant(name, found[name])})
    return rows


def _outcomes(text: str) -> list[str]:
    said = [one.strip() for one in text.split(",") if one.strip()]
    if wrong := [one for one in said if one not in OUTCOMES]:
        raise InvalidSetting("outcome", f"must be among {', '.join(OUTCOMES)}, not {shown(wrong[0], 40)}")
    return said


def _instant(name: str, text: str) -> datetime:
    """A date is the begin of its day; without a zone it is UTC."""
    try:
        found = parse_datetime(text)
        if found is None and (day := parse_date(text)) is not None:
            found = datetime(day.year, day.month, day.day, tzinfo=UTC)
        if found is not None:
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidSetting(name, f"must be a time such as 2026-11-28T12:00:00Z, not {shown(text, 40)}")


def lost(network: Network) -> int:
    """Operations that the log does not have although it reaches back to them."""
    found = of_network(network).filter(outcome=LOST).aggregate(lost=Sum("count"))
    return found["lost"] or 0


def names_of(network: Network) -> Sequence[str]:
    """What the parts of a key are called in its system; none if its networks are not asked by key."""
    context = web_of(network.system).context
    return context.names if context and "get" in context.operations else ()


def about(row: Done, names: Sequence[str]) -> dict[str, str]:
    """The parts of its key by name; empty if they are not as many."""
    parts = row.key.split("|") if row.key else []
    return dict(zip(names, parts, strict=True)) if len(parts) == len(names) else {}


def walk_url(row: Done) -> str:
    """The address of its walk in REST; empty if it was not traced."""
    return f"/api/networks/{row.network}/walks/{row.trace}/" if row.trace else ""


def exported(rows: QuerySet[Operation]) -> Table:
    """As a table. Raises ``InvalidSetting`` if it is too long."""
    count = rows.count()
    if count > MOST_EXPORTED:
        sentence = f"{count:,} operations match; an export has at most {MOST_EXPORTED:,}; narrow it with from and to"
        raise InvalidSetting("from", sentence)
    return Table(COLUMNS, [_row(row) for row in rows.iterator()])


def lines(table: Table) -> Iterator[str]:
    """One JSON object a line."""
    for one in table.objects():
        yield json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n"


def _row(row: Done) -> list[Any]:
    who = (row.at.isoformat(), row.who, row.token, row.via, row.op, row.key, row.source, row.server)
    how = (row.outcome, row.status, row.took_us, row.hops, row.way, walk_url(row), row.sentence, row.count)
    return [*who, *how]


def worst_of(network: Network, kind: str) -> QuerySet[WorstQuery]:
    """The slowest queries first, or the latest that failed. Raises ``InvalidSetting``."""
    if kind not in WORST:
        raise InvalidSetting("kind", f"must be {' or '.join(WORST)}, not {shown(kind, 40)}")
    rows = WorstQuery.objects.filter(network=network.pk, is_failed=kind == FAILED)
    return rows.order_by("-id" if kind == FAILED else "-took_us")
