"""Rows of clients that belong to an account, and of their subscriptions. Blocking: call it in a thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from rest_framework.exceptions import NotFound

from brokerweb.accounts import rights
from brokerweb.accounts.asking import access_of
from brokerweb.accounts.rights import Operation
from brokerweb.hosting.host import Due
from brokerweb.hosting.models import OwnedClient, OwnedSubscription
from brokerweb.kit.errors import NotPossible

MOST_CLIENTS, MOST_CLIENTS_OF_ACCOUNT = 500, 50
MOST_SUBSCRIPTIONS, MOST_SUBSCRIPTIONS_OF_ACCOUNT = 5_000, 500
"""Of one network."""
C = TypeVar("C", bound=OwnedClient)
S = TypeVar("S", bound=OwnedSubscription)


class Owned(Generic[C, S]):
    """Those of one system."""

    def __init__(
        self,
        clients: type[C],
        subscriptions: type[S],
        what: str = "client",
        active: Mapping[str, Any] | None = None,
        most_clients: int = MOST_CLIENTS,
    ) -> None:
        """``what``: what a client is called. ``active``: columns of subscriptions that are to be hosted.
        ``most_clients``: of one network."""
        self._clients, self._subscriptions, self._what = clients._default_manager, subscriptions._default_manager, what
        self._active, self._most_clients = active or {}, most_clients

    # ---- clients

    def client(self, network: str, owner: User, name: str) -> C:
        """Raises ``NotFound``."""
        found = self._clients.filter(network=network, owner=owner, name=name).first()
        if found is None:
            raise NotFound(f"This account has no {self._what} {name!r:.70} in this network.")
        return found

    def clients(self, network: str, owner: User) -> Sequence[C]:
        return list(self._clients.filter(network=network, owner=owner))

    def kept(self, network: str, owner: User, name: str) -> C:
        """The client of this name, which is made at its first use. Raises ``NotPossible``."""
        found = self._clients.filter(network=network, owner=owner, name=name).first()
        if found is not None:
            return found
        of_network = self._clients.filter(network=network)
        of_account = of_network.filter(owner=owner)
        if of_network.count() >= self._most_clients or of_account.count() >= MOST_CLIENTS_OF_ACCOUNT:
            limits = f"At most {MOST_CLIENTS_OF_ACCOUNT} {self._what}s of an account and {self._most_clients} of all"
            raise NotPossible(f"{limits} may be in a network by way of HTTP. Delete one first.")
        try:
            with transaction.atomic():
                return self._clients.create(network_id=network, owner=owner, name=name)
        except IntegrityError:  # another request was faster
            return self.client(network, owner, name)

    # ---- subscriptions

    def subscribe(self, of: C, **fields: Any) -> S:
        """Raises ``NotPossible``."""
        with transaction.atomic():
            self._clients.select_for_update().get(pk=of.pk)
            row = self._subscriptions.create(client=of, **fields)
            all = self._subscriptions.filter(client__network=of.network_id)
            of_account = all.filter(client__owner=of.owner_id)
            if all.count() > MOST_SUBSCRIPTIONS or of_account.count() > MOST_SUBSCRIPTIONS_OF_ACCOUNT:
                limits = f"At most {MOST_SUBSCRIPTIONS_OF_ACCOUNT} subscriptions of an account and"
                raise NotPossible(
                    f"{limits} {MOST_SUBSCRIPTIONS:,} of all may be in a network by way of HTTP. Delete one first."
                )
        return row

    def subscription(self, network: str, owner: User, id: str) -> S:
        """Raises ``NotFound``."""
        found: S | None = self.of_account(network, owner).filter(pk=id).first()
        if found is None:
            raise NotFound(f"This account has no subscription {id!r:.40} in this network.")
        return found

    def of_account(self, network: str, owner: User) -> Any:
        rows = self._subscriptions.filter(client__network=network, client__owner=owner)
        return rows.select_related("client").order_by("created", "pk")

    def states(self, network: str, account: str, ids: Collection[str]) -> dict[str, str]:
        """Implements ``Host.states``."""
        mine = {"client__network": network, "client__owner": account}
        rows: Iterable[Any] = self._subscriptions.filter(**mine, pk__in=list(ids))
        return {row.pk: "" if self._is_active(row) else row.state for row in rows}

    def _is_active(self, row: Any) -> bool:
        return all(getattr(row, name) == value for name, value in self._active.items())

    def remove(self, ids: Iterable[str]) -> None:
        self._subscriptions.filter(pk__in=list(ids)).delete()

    # ---- for the host

    def is_any(self) -> bool:
        return self._clients.exists()

    def due(self, is_needed: Callable[[C, Sequence[S]], bool] = lambda client, subscriptions: True) -> list[Due]:
        """Clients of owners who may still use their network, as far as they are needed."""
        by_client: dict[str, list[S]] = {}
        for row in self._subscriptions.filter(**self._active).select_related("client"):
            by_client.setdefault(row.client_id, []).append(row)  # type: ignore[attr-defined]
        may: dict[tuple[int, str], bool] = {}
        found = []
        for one in self._clients.select_related("owner"):
            mine = by_client.get(one.pk, [])
            if not is_needed(one, mine):
                continue
            key = (one.owner_id, one.network_id)
            if key not in may:
                may[key] = not rights.refusal(access_of(one.owner), Operation.PROVIDE, one.network_id, is_safe=False)
            if may[key]:
                found.append(Due(one, mine))
        return found

    def one_due(self, id: str) -> Due | None:
        found = self._clients.filter(pk=id).first()
        if found is None:
            return None
        return Due(found, list(self._subscriptions.filter(client=found, **self._active).select_related("client")))
