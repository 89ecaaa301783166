"""Who may use which network, and how much: one for all interfaces of a process, so that they follow the same servers
and count in the same budgets.

The database is read at most once a second for each token or session and network. Tokens that do not exist cost it
nothing each: they are looked for together (``token_keys``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException, AuthenticationFailed

from brokerweb.front.budgets import POLICY, Budgets, TooManyRequests
from brokerweb.front.fresh import Fresh
from brokerweb.front.token_keys import TokenKeys, key_in
from brokerweb.front.visitors import Credentials, Visitor, admit
from brokerweb.kit.throttles import Budget, host_of
from brokerweb.networks import sight
from brokerweb.networks.sight import Sight

MOST_VISITORS = 10_000
MOST_NETWORKS = 1_000


class InvalidToken(AuthenticationFailed):
    """There is no such token."""

    default_detail = "Invalid token."
    auth_header = "Bearer"


class AccessControl:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._visitors = Fresh(admit, MOST_VISITORS, clock)
        self._networks: Fresh[str, Sight | None] = Fresh(sight.look, MOST_NETWORKS, clock)
        self._keys = TokenKeys()
        self._budgets = Budgets()

    async def visitor(self, shown: Credentials) -> Visitor | None:
        """``None``: not permitted. Raises ``InvalidToken``, ``DatabaseError``."""
        key = None if self._visitors.is_known(shown) else key_in(shown.authorization)
        if key is not None and not await self._keys.exists(key):
            raise InvalidToken
        found = await self._visitors.get(shown)
        if found is None and key is not None:
            self._keys.forget(key)
        return found

    async def permitted(self, shown: Credentials) -> Visitor | None:
        """The same without the distinction: ``None`` also for an unknown token. Raises ``DatabaseError``."""
        try:
            return await self.visitor(shown)
        except InvalidToken:
            return None

    async def network(self, id: str) -> Sight | None:
        """``None``: there is no such network. Raises ``DatabaseError``."""
        return await self._networks.get(id)

    def count(self, who: str, operations: int = 1) -> Budget | None:
        """Count operations of a token or session on the context of networks; ``None`` without a limit. In the event
        loop.
        """
        return self._budgets.count(f"{who}:{POLICY}", settings.CONTEXT_RATE, time.time(), operations)

    def refusal_of_token(self, invalid: InvalidToken, scope: MutableMapping[str, Any]) -> APIException:
        """401, or 429: such requests count for their address, in the budget that REST has for these."""
        who = f"address:{host_of((scope.get('client') or ('',))[0])}"
        budget = self._budgets.count(who, settings.REST_ADDRESS_RATE, time.time())
        return TooManyRequests(who, budget) if budget is not None and budget.is_exceeded else invalid
