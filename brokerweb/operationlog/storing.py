"""Writes the operation log, and deletes its oldest rows. Bounded by ``OPERATION_ROWS`` and ``OPERATION_DAYS``."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction

from brokerweb.accounts.models import Token
from brokerweb.kit.moments import moment
from brokerweb.operationlog import worst
from brokerweb.operationlog.buffer import Taken
from brokerweb.operationlog.entries import LOST, Line, lines_of
from brokerweb.operationlog.models import Operation, WorstQuery

A_TURN = 5_000
"""Rows deleted at once."""
LOOK_AT = 0.05
"""Share of ``OPERATION_ROWS`` after which the number of a network's rows is looked at again; so much more there may
be."""
NAMES_S = 60.0
"""Names of accounts are read again after this time."""
COLUMNS = [one for one in Operation._meta.concrete_fields if not one.primary_key]

Named = tuple[str, str]
"""Name of an account, and prefix of its token."""


class Limits(NamedTuple):
    """How much is kept."""

    rows: int
    """Of each network."""
    days: int


def limits() -> Limits:
    return Limits(settings.OPERATION_ROWS, settings.OPERATION_DAYS)


class _State:
    """What one process remembers between two flushes."""

    def __init__(self) -> None:
        self.since: Counter[str] = Counter()
        self.least_us: dict[str, int] = {}
        self.names: dict[str, Named] = {}
        self.names_until = 0.0


_STATE = _State()


def write(taken: Taken) -> int:
    """Store what was taken from the buffer; returns the number of rows. Raises ``DatabaseError``."""
    lines = [line for entry in taken.entries for line in lines_of(entry)]
    lines += [_lost(network, count) for network, count in taken.lost.items()]
    names = _names({line.who for line in lines if line.who})
    by_network: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_network[line.network].append(line)
    with transaction.atomic():
        _insert(lines, names)
        for network, own in by_network.items():
            _keep_worst(network, own, names)
            _shrink(network, len(own))
    return len(lines)


def _lost(network: str, count: int) -> Line:
    sentence = f"{count:,} operations are missing here: they came faster than they could be logged."
    return Line(network, time.time_ns(), 0, "", "", "", "", "", 0, LOST, sentence=sentence, missing=count)


def _insert(lines: Sequence[Line], names: Mapping[str, Named]) -> None:
    """Plain SQL: Django's ``bulk_create`` takes six times as long, which requests would wait for."""
    if not lines:
        return
    quote = connection.ops.quote_name
    columns = ", ".join(quote(one.attname) for one in COLUMNS)
    places = ", ".join(["%s"] * len(COLUMNS))
    statement = f"INSERT INTO {quote(Operation._meta.db_table)} ({columns}) VALUES ({places})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(statement, [_values(line, names) for line in lines])


def _values(line: Line, names: Mapping[str, Named]) -> tuple[Any, ...]:
    """In the order of ``COLUMNS``."""
    who, token = names.get(line.who, ("", ""))
    at: Any = connection.ops.adapt_datetimefield_value(moment(line.at_ns / 1_000_000))
    what = (line.via, line.op, line.key, line.source, line.status, line.outcome)
    how = (line.server, line.hops, line.way, line.trace, line.sentence, line.missing)
    return (line.network, at, line.took_us, who, token, *what, *how)


def _row(line: Line, names: Mapping[str, Named], **more: Any) -> WorstQuery:
    values = dict(zip((one.attname for one in COLUMNS), _values(line, names), strict=True))
    return WorstQuery(**{**values, "at": moment(line.at_ns / 1_000_000)}, **more)


def _keep_worst(network: str, lines: Iterable[Line], names: Mapping[str, Named]) -> None:
    own = list(lines)
    slow, failed = worst.slow(own, _STATE.least_us.get(network, -1)), worst.failed(own)
    WorstQuery.objects.bulk_create(
        [
            *(_row(line, names, is_failed=False) for line in slow),
            *(_row(line, names, is_failed=True) for line in failed),
        ]
    )
    rows = WorstQuery.objects.filter(network=network)
    if slow:
        slowest = list(rows.filter(is_failed=False).order_by("-took_us").values_list("pk", "took_us")[: worst.MOST])
        rows.filter(is_failed=False).exclude(pk__in=[pk for pk, _ in slowest]).delete()
        _STATE.least_us[network] = worst.least_us([took_us for _, took_us in slowest])
    if failed:
        newest = list(rows.filter(is_failed=True).order_by("-id").values_list("pk", flat=True)[: worst.MOST])
        rows.filter(is_failed=True).exclude(pk__in=newest).delete()


def _shrink(network: str, added: int) -> None:
    """Delete the network's oldest rows beyond the limit, now and then."""
    _STATE.since[network] += added
    most = settings.OPERATION_ROWS
    if _STATE.since[network] > most * LOOK_AT:
        _STATE.since[network] = 0
        last = Operation.objects.filter(network=network).values_list("pk", flat=True)[most : most + 1].first()
        if last is not None:
            _delete(Operation.objects.filter(network=network, pk__lte=last))


def _delete(rows: Any) -> int:
    """Without reading them: nothing refers to them."""
    deleted: int = rows._raw_delete(rows.db)
    return deleted


def thin(now: datetime) -> int:
    """Delete what is too old, at most ``A_TURN`` operations; returns the number. Called every minute. The log of a
    deleted network stays until it is too old."""
    before = now - timedelta(days=settings.OPERATION_DAYS)
    aged = list(Operation.objects.filter(at__lt=before).order_by("id").values_list("pk", flat=True)[:A_TURN])
    gone = _delete(Operation.objects.filter(pk__in=aged)) if aged else 0
    day = now - timedelta(seconds=worst.KEPT_S)
    if old := WorstQuery.objects.filter(at__lt=day).delete()[0]:
        _STATE.least_us.clear()
    return gone + old


def _names(who: set[str]) -> Mapping[str, Named]:
    """Of accounts and tokens."""
    state, now = _STATE, time.monotonic()
    if now > state.names_until or len(state.names) > 10_000:
        state.names, state.names_until = {}, now + NAMES_S
    missing = {kind: {one for one in who - state.names.keys() if one.startswith(kind)} for kind in ("user:", "token:")}
    if ids := {one.partition(":")[2] for one in missing["user:"]}:
        found: dict[str, Named] = {f"user:{pk}": (name, "") for pk, name in _users(ids)}
        state.names.update({one: found.get(one, ("", "")) for one in missing["user:"]})
    if ids := {one.partition(":")[2] for one in missing["token:"]}:
        tokens = Token.objects.filter(id__in=ids).values_list("id", "user__username", "token_key")
        found = {f"token:{pk}": (name, prefix) for pk, name, prefix in tokens}
        state.names.update({one: found.get(one, ("", "")) for one in missing["token:"]})
    return state.names


def _users(ids: set[str]) -> Iterable[tuple[Any, str]]:
    return User.objects.filter(pk__in=[int(one) for one in ids if one.isdigit()]).values_list("pk", "username")
