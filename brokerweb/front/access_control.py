"""Who may use which network, and how much: one for all interfaces of a process, so that they follow the same servers
and count in the same budgets.

The database is read at most once a second for each token or session and network. Those that do not exist are looked
for together (``known_keys``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from brokerweb.front.budgets import POLICY, Budgets, TooManyRequests
from brokerweb.front.fresh import Fresh
from brokerweb.front.known_keys import KnownKeys, key_in, sessions, tokens
from brokerweb.front.principals import Credentials, Principal, authorize
from brokerweb.kit.throttles import Budget, host_of
from brokerweb.networks.snapshot import NetworkSnapshot, read_snapshot

MOST_PRINCIPALS = 10_000
MOST_NETWORKS = 1_000


class InvalidToken(AuthenticationFailed):
    """There is no such token."""

    default_detail = "Invalid token."
    auth_header = "Bearer"


class UnknownSession(NotAuthenticated):
    """There is no such session, and no token."""

    auth_header = "Bearer"


UNKNOWN = InvalidToken, UnknownSession
"""What is wrong with credentials that the database does not have."""


class AccessControl:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._principals = Fresh(authorize, MOST_PRINCIPALS, clock)
        self._networks: Fresh[str, NetworkSnapshot | None] = Fresh(read_snapshot, MOST_NETWORKS, clock)
        self._tokens = KnownKeys(tokens)
        self._sessions = KnownKeys(sessions)
        self._budgets = Budgets()

    async def principal(self, shown: Credentials) -> Principal | None:
        """``None``: not permitted. Raises ``UNKNOWN``, ``DatabaseError``."""
        if self._principals.is_known(shown):
            return await self._principals.get(shown)
        keys, key = self._tokens, key_in(shown.authorization)
        unknown: type[APIException] = InvalidToken
        if key is None and shown.session:
            keys, key, unknown = self._sessions, shown.session, UnknownSession
        if key is not None and not await keys.exists(key):
            raise unknown
        found = await self._principals.get(shown)
        if found is None and key is not None:
            keys.forget(key)
        return found

    async def permitted(self, shown: Credentials) -> Principal | None:
        """The same without the distinction: ``None`` also if they are unknown. Raises ``DatabaseError``."""
        try:
            return await self.principal(shown)
        except UNKNOWN:
            return None

    async def network(self, id: str) -> NetworkSnapshot | None:
        """``None``: there is no such network. Raises ``DatabaseError``."""
        return await self._networks.get(id)

    def count(self, who: str, operations: int = 1) -> Budget | None:
        """Count operations of a token or session on the context of networks; ``None`` without a limit. In the event
        loop.
        """
        return self._budgets.count(f"{who}:{POLICY}", settings.CONTEXT_RATE, time.time(), operations)

    def refusal(self, unknown: APIException, scope: MutableMapping[str, Any]) -> APIException:
        """401, or 429: such requests count for their address, in the budget that REST has for these."""
        who = f"address:{host_of((scope.get('client') or ('',))[0])}"
        budget = self._budgets.count(who, settings.REST_ADDRESS_RATE, time.time())
        return TooManyRequests(who, budget) if budget is not None and budget.is_exceeded else unknown
