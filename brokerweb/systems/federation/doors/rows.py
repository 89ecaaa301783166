"""Hosted clients and their subscriptions in the database. Blocking: call it in a thread."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.exceptions import NotFound

from brokerweb.accounts import rights
from brokerweb.accounts.asking import access_of
from brokerweb.accounts.rights import Operation
from brokerweb.hosting.host import Due
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.moments import moment
from brokerweb.systems.federation.models import (
    ClientRole,
    Format,
    HostedClient,
    HostedSubscription,
    SubscriptionState,
)
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.language.tree import read, written
from overlay.systems.federation.wire.values import Advertisement, Priority, Role

MOST_CLIENTS, MOST_CLIENTS_OF_ACCOUNT = 500, 50
MOST_SUBSCRIPTIONS, MOST_SUBSCRIPTIONS_OF_ACCOUNT = 5_000, 500
"""Of one network."""
KEPT = timedelta(days=1)
"""An ended subscription is listed for so long."""


# ---- clients


def client(network: str, owner: User, name: str, role: ClientRole | None = None) -> HostedClient:
    """Raises ``NotFound``: this account has registered none of this name."""
    found = HostedClient.objects.filter(network=network, owner=owner, name=name).first()
    if found is None or (role is not None and found.role != role):
        kind = role or "client"
        raise NotFound(f"This account has registered no {kind} {name!r:.70} in this network.")
    return found


def clients(network: str, owner: User, role: ClientRole) -> Sequence[HostedClient]:
    return list(HostedClient.objects.filter(network=network, owner=owner, role=role, is_own=False))


def keep_client(network: str, owner: User, me: Advertisement, broker: int | None) -> tuple[HostedClient, bool]:
    """The row of an advertisement, and whether it is new. Raises ``NotPossible``."""
    fields = {"url": me.url, "scopes": list(me.scopes), "needs": {name: list(all) for name, all in me.needs.items()}}
    role = ClientRole.PROVIDER if me.role is Role.PROVIDER else ClientRole.CONSUMER
    with transaction.atomic():
        found = HostedClient.objects.select_for_update().filter(network=network, name=me.id).first()
        if found is None:
            _check_room(network, owner)
            return _created(network=network, owner=owner, name=me.id, role=role, broker=broker, **fields), True
        if found.owner_id != owner.pk or found.is_own:
            raise NotPossible(f"The name {me.id} is taken in this network.")
        if found.role != role:
            raise NotPossible(f"{me.id} is registered as {found.role}. Unregister it first.")
        HostedClient.objects.filter(pk=found.pk).update(**fields, broker=broker)
        return found, False


def restore(former: HostedClient) -> None:
    """As it was read before ``keep_client`` changed it."""
    former.save(update_fields=["url", "scopes", "needs", "broker"])


def own_consumer(network: str, owner: User) -> HostedClient:
    """The consumer of an account, for what names none."""
    with transaction.atomic():
        found = HostedClient.objects.filter(network=network, owner=owner, is_own=True).first()
        if found is not None:
            return found
        made = HostedClient(network_id=network, owner=owner, role=ClientRole.CONSUMER, is_own=True)
        made.name = f"web-{made.pk}"
        made.save()
    return made


def _created(**fields: Any) -> HostedClient:
    network = fields.pop("network")
    try:
        with transaction.atomic():
            return HostedClient.objects.create(network_id=network, **fields)
    except IntegrityError:
        raise NotPossible(f"The name {fields['name']} is taken in this network.") from None


def _check_room(network: str, owner: User) -> None:
    of_network = HostedClient.objects.filter(network=network, is_own=False)
    if of_network.count() >= MOST_CLIENTS or of_network.filter(owner=owner).count() >= MOST_CLIENTS_OF_ACCOUNT:
        limits = f"At most {MOST_CLIENTS_OF_ACCOUNT} clients of an account and {MOST_CLIENTS} of all"
        raise NotPossible(f"{limits} may be registered in a network by way of HTTP. Unregister one first.")


# ---- subscriptions


def subscribe(
    of: HostedClient, asked: Sequence[tuple[int | None, Wanted]], url: str, format: Format
) -> tuple[list[HostedSubscription], list[str]]:
    """A row for each, and the ids of those that are new: with the number of an active one, that is renewed if it is
    equal otherwise. Raises ``NotPossible``.
    """
    with transaction.atomic():
        HostedClient.objects.select_for_update().get(pk=of.pk)
        known = [_renewed(of, number, one) for number, one in asked]
        rows = [row or _row(of, number, one, url, format) for row, (number, one) in zip(known, asked, strict=True)]
        mine = HostedSubscription.objects.filter(state=SubscriptionState.ACTIVE, client__network=of.network_id)
        of_account = mine.filter(client__owner=of.owner_id)
        if mine.count() > MOST_SUBSCRIPTIONS or of_account.count() > MOST_SUBSCRIPTIONS_OF_ACCOUNT:
            limits = f"At most {MOST_SUBSCRIPTIONS_OF_ACCOUNT} subscriptions of an account and {MOST_SUBSCRIPTIONS:,}"
            raise NotPossible(f"{limits} of all may be active in a network by way of HTTP. Delete one first.")
    return rows, [row.pk for row, former in zip(rows, known, strict=True) if former is None]


def _row(of: HostedClient, number: int | None, one: Wanted, url: str, format: Format) -> HostedSubscription:
    return HostedSubscription.objects.create(
        client=of,
        number=number,
        scopes=list(one.scopes),
        expression=written(one.expression),
        expires=moment(one.expires),
        priority=one.priority.value,
        once=one.once,
        url=url,
        format=format,
    )


def _renewed(of: HostedClient, number: int | None, one: Wanted) -> HostedSubscription | None:
    """Raises ``NotPossible`` for other content under the number of an active one. An ended one gives way."""
    if number is None:
        return None
    found = HostedSubscription.objects.filter(client=of, number=number).first()
    if found is None:
        return None
    if found.state != SubscriptionState.ACTIVE:
        found.delete()
        return None
    if wanted(found)._replace(expires=one.expires) != one:
        raise NotPossible(f"{of.name}-{number} is active with other content.")
    found.expires = moment(one.expires)
    found.save(update_fields=["expires"])
    return found


def wanted(row: HostedSubscription) -> Wanted:
    """What its consumer tells its broker."""
    expires = round(row.expires.timestamp() * 1_000)
    return Wanted(tuple(row.scopes), expires, read(row.expression), Priority(row.priority), row.once)


def subscription(network: str, owner: User, id: str) -> HostedSubscription:
    """Raises ``NotFound``."""
    found = of_account(network, owner).filter(pk=id).first()
    if found is None:
        raise NotFound(f"This account has no subscription {id!r:.40} in this network.")
    return found


def of_account(network: str, owner: User) -> Any:
    rows = HostedSubscription.objects.filter(client__network=network, client__owner=owner)
    return rows.select_related("client").order_by("created", "pk")


def states(network: str, account: str, ids: Collection[str]) -> dict[str, str]:
    """Implements ``Host.states``."""
    mine = {"client__network": network, "client__owner": account}
    rows = HostedSubscription.objects.filter(**mine, pk__in=list(ids))
    active = SubscriptionState.ACTIVE
    return {id: "" if state == active else state for id, state in rows.values_list("pk", "state")}


def named(of: HostedClient, numbers: Iterable[int]) -> list[HostedSubscription]:
    return list(HostedSubscription.objects.filter(client=of, number__in=list(numbers)))


def remove(ids: Iterable[str]) -> None:
    HostedSubscription.objects.filter(pk__in=list(ids)).delete()


def end(id: str, state: SubscriptionState, reason: str, now: datetime) -> None:
    active = HostedSubscription.objects.filter(pk=id, state=SubscriptionState.ACTIVE)
    active.update(state=state, reason=reason[:500], ended=now)


# ---- for the host


def is_any() -> bool:
    return HostedClient.objects.exists()


def due(now: datetime, own: Iterable[str] = ()) -> list[Due]:
    """All clients that are to be registered now: of owners who may still use their network. An account's own consumer
    only with active subscriptions, or if it is among ``own``. Ends what has expired, and removes what ended long ago.
    """
    active = HostedSubscription.objects.filter(state=SubscriptionState.ACTIVE)
    active.filter(expires__lte=now).update(state=SubscriptionState.EXPIRED, ended=now)
    HostedSubscription.objects.exclude(state=SubscriptionState.ACTIVE).filter(ended__lte=now - KEPT).delete()
    by_client: dict[str, list[HostedSubscription]] = {}
    for row in HostedSubscription.objects.filter(state=SubscriptionState.ACTIVE).order_by("created", "pk"):
        by_client.setdefault(row.client_id, []).append(row)
    used = {*own, *by_client}
    known = HostedClient.objects.select_related("owner")
    found = [one for one in known if not one.is_own or one.pk in used]
    may: dict[tuple[int, str, str], bool] = {}
    for one in found:
        key = (one.owner_id, one.network_id, one.role)
        if key not in may:
            may[key] = _may(one)
    rows = [one for one in found if may[one.owner_id, one.network_id, one.role]]
    return [Due(one, by_client.get(one.pk, [])) for one in rows]


def one_due(id: str) -> Due | None:
    found = HostedClient.objects.filter(pk=id).first()
    if found is None:
        return None
    return Due(found, list(found.subscriptions.filter(state=SubscriptionState.ACTIVE, expires__gt=timezone.now())))


def _may(one: HostedClient) -> bool:
    operation = Operation.PROVIDE if one.role == ClientRole.PROVIDER or not one.is_own else Operation.READ
    return not rights.refusal(access_of(one.owner), operation, one.network_id, is_safe=operation is Operation.READ)
