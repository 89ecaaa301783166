"""The rows of subscriptions. Functions for threads with a database; ``in_thread`` runs them from an event loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db.models import F, Q
from django.utils import timezone

from brokerweb.accounts import rights
from brokerweb.accounts.asking import access_of
from brokerweb.accounts.models import Token
from brokerweb.accounts.rights import Operation
from brokerweb.ngsi.models import Subscription
from brokerweb.ngsi.problems import Kind, Problem

MOST_OF_NETWORK, MOST = 100, 1_000


def in_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    found: Callable[..., Any] = database_sync_to_async(function, thread_sensitive=False)
    return found


@dataclass(slots=True)
class Tally:
    """What became of notifications since it was stored last."""

    sent: int = 0
    failures: int | None = None
    """Consecutive; ``None``: as before."""
    last_sent: datetime | None = None
    last_success: datetime | None = None
    last_failure: datetime | None = None
    reason: str = ""


def create(network: str, who: str, fields: Mapping[str, Any]) -> str:
    """Its id. Raises ``Problem``."""
    of_network = Subscription.objects.filter(network_id=network).count()
    if of_network >= MOST_OF_NETWORK or Subscription.objects.count() >= MOST:
        raise Problem(
            Kind.TOO_LARGE, f"At most {MOST_OF_NETWORK} subscriptions of a network, and {MOST:,} of all. Delete one."
        )
    return str(Subscription.objects.create(network_id=network, owner=_owner(who), **fields).pk)


def get(network: str, standard: str, id: str) -> Subscription:
    """Raises ``Problem``."""
    found = Subscription.objects.filter(network_id=network, standard=standard, pk=id).first()
    if found is None:
        raise Problem(Kind.NOT_FOUND, f"There is no subscription {id}.")
    return found


def page(network: str, standard: str, offset: int, limit: int) -> tuple[Sequence[Subscription], int]:
    """And how many there are."""
    found = Subscription.objects.filter(network_id=network, standard=standard)
    return list(found[offset : offset + limit]), found.count()


def change(network: str, standard: str, id: str, fields: Mapping[str, Any]) -> None:
    """Raises ``Problem``."""
    if not Subscription.objects.filter(network_id=network, standard=standard, pk=id).update(**fields):
        raise Problem(Kind.NOT_FOUND, f"There is no subscription {id}.")


def delete(network: str, standard: str, id: str) -> None:
    """Raises ``Problem``."""
    get(network, standard, id).delete()


def live(now: datetime) -> Sequence[Subscription]:
    """Those that notify now: active, not expired, of owners who may still read the network."""
    rows = Subscription.objects.filter(Q(expires=None) | Q(expires__gt=now), is_active=True).select_related("owner")
    return [row for row in rows if _may_read(row)]


def add(tallies: Iterable[tuple[str, Tally]]) -> None:
    for id, tally in tallies:
        fields: dict[str, Any] = {"sent": F("sent") + tally.sent}
        for name in ("failures", "last_sent", "last_success", "last_failure"):
            if (value := getattr(tally, name)) is not None:
                fields[name] = value
        if tally.reason:
            fields["reason"] = tally.reason[:500]
        Subscription.objects.filter(pk=id).update(**fields)


def status_of(row: Subscription) -> str:
    """``active``, ``inactive``, ``expired`` or ``failed``."""
    if row.expires is not None and row.expires <= timezone.now():
        return "expired"
    if not row.is_active:
        return "inactive"
    return "failed" if row.failures else "active"


def _may_read(row: Subscription) -> bool:
    return not rights.refusal(access_of(row.owner), Operation.READ, row.network_id, is_safe=True)


def _owner(who: str) -> User:
    kind, _, id = who.partition(":")
    return Token.objects.get(id=id).user if kind == "token" else User.objects.get(pk=id)
