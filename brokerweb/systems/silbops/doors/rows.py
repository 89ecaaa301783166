"""Hosted clients and their subscriptions in the database. Blocking: call it in a thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from rest_framework.exceptions import NotFound

from brokerweb.accounts import rights
from brokerweb.accounts.asking import access_of
from brokerweb.accounts.rights import Operation
from brokerweb.hosting.host import Due
from brokerweb.kit.errors import NotPossible
from brokerweb.systems.silbops.models import SilbopsClient, SilbopsSubscription, State

MOST_CLIENTS, MOST_CLIENTS_OF_ACCOUNT = 500, 50
MOST_SUBSCRIPTIONS, MOST_SUBSCRIPTIONS_OF_ACCOUNT = 5_000, 500
"""Of one network."""


# ---- clients


def client(network: str, owner: User, name: str) -> SilbopsClient:
    """Raises ``NotFound``."""
    found = SilbopsClient.objects.filter(network=network, owner=owner, name=name).first()
    if found is None:
        raise NotFound(f"This account has no client {name!r:.70} in this network.")
    return found


def clients(network: str, owner: User) -> Sequence[SilbopsClient]:
    return list(SilbopsClient.objects.filter(network=network, owner=owner))


def kept(network: str, owner: User, name: str) -> SilbopsClient:
    """The client of this name, which is made at its first use. Raises ``NotPossible``."""
    found = SilbopsClient.objects.filter(network=network, owner=owner, name=name).first()
    if found is not None:
        return found
    of_network = SilbopsClient.objects.filter(network=network)
    if of_network.count() >= MOST_CLIENTS or of_network.filter(owner=owner).count() >= MOST_CLIENTS_OF_ACCOUNT:
        limits = f"At most {MOST_CLIENTS_OF_ACCOUNT} clients of an account and {MOST_CLIENTS} of all"
        raise NotPossible(f"{limits} may be in a network by way of HTTP. Delete one first.")
    try:
        with transaction.atomic():
            return SilbopsClient.objects.create(network_id=network, owner=owner, name=name)
    except IntegrityError:  # another request was faster
        return client(network, owner, name)


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


# ---- subscriptions


def subscribe(of: SilbopsClient, where: Sequence[Any], scope: str, url: str) -> SilbopsSubscription:
    """Raises ``NotPossible``."""
    with transaction.atomic():
        SilbopsClient.objects.select_for_update().get(pk=of.pk)
        row = SilbopsSubscription.objects.create(client=of, where=list(where), scope=scope, url=url)
        all = SilbopsSubscription.objects.filter(client__network=of.network_id)
        of_account = all.filter(client__owner=of.owner_id)
        if all.count() > MOST_SUBSCRIPTIONS or of_account.count() > MOST_SUBSCRIPTIONS_OF_ACCOUNT:
            limits = f"At most {MOST_SUBSCRIPTIONS_OF_ACCOUNT} subscriptions of an account and {MOST_SUBSCRIPTIONS:,}"
            raise NotPossible(f"{limits} of all may be in a network by way of HTTP. Delete one first.")
    return row


def subscription(network: str, owner: User, id: str) -> SilbopsSubscription:
    """Raises ``NotFound``."""
    found: SilbopsSubscription | None = of_account(network, owner).filter(pk=id).first()
    if found is None:
        raise NotFound(f"This account has no subscription {id!r:.40} in this network.")
    return found


def of_account(network: str, owner: User) -> Any:
    rows = SilbopsSubscription.objects.filter(client__network=network, client__owner=owner)
    return rows.select_related("client").order_by("created", "pk")


def named(network: str, owner: User) -> Mapping[str, str]:
    """The names of an account's clients by their identity."""
    return dict(SilbopsClient.objects.filter(network=network, owner=owner).values_list("identity", "name"))


def remove(ids: Iterable[str]) -> None:
    SilbopsSubscription.objects.filter(pk__in=list(ids)).delete()


def end(id: str, state: str, reason: str, now: datetime) -> None:
    active = SilbopsSubscription.objects.filter(pk=id, state=State.ACTIVE)
    active.update(state=state, reason=reason[:500], ended=now)


# ---- for the host


def is_any() -> bool:
    return SilbopsClient.objects.exists()


def due() -> list[Due]:
    """All clients of owners who may still use their network."""
    by_client: dict[str, list[SilbopsSubscription]] = {}
    for row in SilbopsSubscription.objects.filter(state=State.ACTIVE).select_related("client"):
        by_client.setdefault(row.client_id, []).append(row)
    may: dict[tuple[int, str], bool] = {}
    found = []
    for one in SilbopsClient.objects.select_related("owner"):
        key = (one.owner_id, one.network_id)
        if key not in may:
            may[key] = not rights.refusal(access_of(one.owner), Operation.PROVIDE, one.network_id, is_safe=False)
        if may[key]:
            found.append(Due(one, by_client.get(one.pk, [])))
    return found


def one_due(id: str) -> Due | None:
    found = SilbopsClient.objects.filter(pk=id).first()
    if found is None:
        return None
    return Due(found, list(found.subscriptions.filter(state=State.ACTIVE).select_related("client")))
