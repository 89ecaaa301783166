"""Hosted clients and their subscriptions in the database. Blocking: call it in a thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from brokerweb.hosting.owned import Owned
from brokerweb.systems.silbops.models import SilbopsClient, SilbopsSubscription, State

ROWS = Owned(SilbopsClient, SilbopsSubscription, active={"state": State.ACTIVE})


def change(row: SilbopsClient, **fields: Any) -> dict[str, Any]:
    """Store these fields; returns what they were."""
    former = {name: getattr(row, name) for name in fields}
    for name, value in fields.items():
        setattr(row, name, value)
    SilbopsClient.objects.filter(pk=row.pk).update(**fields)
    return former


def offer(row: SilbopsClient, variables: Iterable[str], readable: Iterable[str]) -> bool:
    """What it advertises, with these as well; returns whether any is new."""
    wanted = {
        "is_publisher": True,
        "variables": sorted({*row.variables, *variables}),
        "readable": sorted({*row.readable, *readable}),
    }
    return change(row, **wanted) != wanted


def named(network: str, owner: User) -> Mapping[str, str]:
    """The names of an account's clients by their identity."""
    return dict(SilbopsClient.objects.filter(network=network, owner=owner).values_list("identity", "name"))


def end(id: str, state: str, reason: str, now: datetime) -> None:
    active = SilbopsSubscription.objects.filter(pk=id, state=State.ACTIVE)
    active.update(state=state, reason=reason[:500], ended=now)
