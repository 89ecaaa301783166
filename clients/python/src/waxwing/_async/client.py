"""The entrance to everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from waxwing import calls, config
from waxwing._async import lists
from waxwing._async.context import AsyncContextOf
from waxwing._async.contextnet import AsyncContextNetOf
from waxwing._async.experiments import AsyncExperiments, AsyncRuns
from waxwing._async.federation import AsyncFederationOf
from waxwing._async.resources import AsyncNetworks, AsyncReports, AsyncStudies, AsyncTopologies
from waxwing._async.transport import AsyncTransport
from waxwing.calls import Answer
from waxwing.retries import Retry


class AsyncClient:
    """A server and an account. Without arguments, both come from the configuration (``waxwing.config``).

    ``ca`` is a file with the certificate of the authority that vouches for the server, if it is your own.
    ``timeout_s`` is the longest silence within one attempt. Use it as a context manager, or call ``aclose``.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        ca: str | None = None,
        timeout_s: float = 30.0,
        retry: Retry | None = None,
        http: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.config = config.read(url, token, ca=ca)
        self._transport = AsyncTransport(self.config, timeout_s, retry or Retry(), http)
        self.networks = AsyncNetworks(self._transport)
        self.topologies = AsyncTopologies(self._transport)
        self.experiments = AsyncExperiments(self._transport)
        self.runs = AsyncRuns(self._transport)
        self.reports = AsyncReports(self._transport)
        self.studies = AsyncStudies(self._transport)

    def context(self, network: str) -> AsyncContextOf:
        """The context of a network, by its id."""
        return self.networks.context(network)

    def federation(self, network: str) -> AsyncFederationOf:
        """The federated brokers of a network, by its id."""
        return self.networks.federation(network)

    def contextnet(self, network: str) -> AsyncContextNetOf:
        """The mobile nodes of a network of ContextNet, by its id."""
        return self.networks.contextnet(network)

    async def api(
        self,
        method: str,
        path: str,
        *,
        query: calls.Query | None = None,
        body: Any = None,
        key: str | bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Any operation of the API: ``api("GET", "/api/hosts/")``; ``answer.data`` is its JSON.

        ``key``: an idempotency key for operations that take one, or True for a new one; only then is a write sent again
        after a broken connection.
        """
        full, parameters = calls.api_path(self.config.url, path)
        query = {**parameters, **(query or {})}
        return await self._transport.send(calls.call(method, full, query=query, body=body, key=key, headers=headers))

    async def rows(self, path: str, **query: Any) -> AsyncIterator[Mapping[str, Any]]:
        """All rows of any list of the API, page by page."""
        full, parameters = calls.api_path(self.config.url, path)
        async for row in lists.rows(self._transport, full, {**parameters, **query}, cursor=False, page_size=None):
            yield row

    async def log_in(
        self, username: str, password: str, *, name: str = "waxwing", scope: str = "write", days: int | None = None
    ) -> str:
        """A new token, for ``Client(url, token)``. ``scope`` is read or write, ``days`` the time until it expires."""
        body: dict[str, Any] = {"username": username, "password": password, "name": name, "scope": scope}
        if days is not None:
            body["days"] = days
        return str((await self._transport.send(calls.call("POST", calls.at("tokens"), body=body))).data["token"])

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
