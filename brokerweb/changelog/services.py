"""Reading, exporting and thinning the change log."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from brokerweb.changelog.models import Change
from brokerweb.kit.tables import Table
from overlay.core.errors import InvalidSetting

OF_ACCOUNTS = ("account", "right", "token")
"""Kinds that only administrators see."""
KINDS = ("topology", "network", "experiment", "run", "report", "schedule", "notification", "storage", "queue")
MOST_EXPORTED = 20_000
A_TURN = 5_000
"""Rows deleted at once."""
COLUMNS = (*("at", "who", "token", "source", "request_id", "kind", "object", "name", "action", "before", "after"),)


def shown(*, of_accounts: bool) -> QuerySet[Change]:
    """The log, newest first; with what happened to accounts, rights and tokens, or without."""
    rows = Change.objects.all()
    return rows if of_accounts else rows.exclude(kind__in=OF_ACCOUNTS)


def matching(rows: QuerySet[Change], text: str) -> QuerySet[Change]:
    """Those in which each word occurs: in the name, id or kind of the object, the action, or who did it."""
    for word in text.replace("\0", " ").split()[:10]:
        names = ("name", "who", "kind", "action", "object_id", "request_id")
        found = Q()
        for name in names:
            found |= Q(**{f"{name}__icontains": word})
        rows = rows.filter(found)
    return rows


def exported(rows: QuerySet[Change]) -> Table:
    """The log as a table. Raises ``InvalidSetting`` if it is too long."""
    count = rows.count()
    if count > MOST_EXPORTED:
        raise InvalidSetting("q", f"matches {count:,} changes; an export has at most {MOST_EXPORTED:,}; narrow it")
    return Table(COLUMNS, [_row(change) for change in rows.iterator()])


def _row(change: Change) -> list[Any]:
    by = (change.who, change.token, change.source, change.request_id)
    what = (change.kind, change.object_id, change.name, change.action)
    sides = (json.dumps(side, ensure_ascii=False, sort_keys=True) for side in (change.before, change.after))
    return [change.at.isoformat(), *by, *what, *sides]


def thin(before: datetime, most: int) -> int:
    """Delete rows from before ``before``, and the oldest beyond ``most``, at most ``A_TURN`` of each; returns their
    number.
    """
    aged = list(Change.objects.filter(at__lt=before).order_by("id").values_list("pk", flat=True)[:A_TURN])
    last = Change.objects.order_by("-id").values_list("pk", flat=True)[most : most + 1].first()
    surplus = Change.objects.filter(pk__lte=last).order_by("id") if last else Change.objects.none()
    gone = {*aged, *surplus.values_list("pk", flat=True)[:A_TURN]}
    return Change.objects.filter(pk__in=gone).delete()[0] if gone else 0
