"""Sends requests with ``httpx``, again where that is right, and reads streams."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import httpx

from waxwing import calls, trust
from waxwing.calls import Answer, Call
from waxwing.config import Config
from waxwing.errors import InvalidMessage, NoConnection, Redirected, UnexpectedAnswer, WaxwingError
from waxwing.retries import Attempts, Retry

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class AsyncTransport:
    """Connections to one server. ``http`` replaces the connections in tests."""

    def __init__(
        self, config: Config, timeout_s: float, retry: Retry, http: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.config = config
        self.retry = retry
        self._http = httpx.AsyncClient(
            base_url=config.url,
            headers=calls.identity(config.token),
            timeout=timeout_s,
            transport=http,
            verify=trust.context(config),
        )

    async def send(self, call: Call, timeout_s: float | None = None) -> Answer:
        """The answer. ``timeout_s`` is for this call, if it may take longer than others.

        Raises ``ApiError`` for a status of 400 and above, and ``NoConnection``.
        """
        attempts = Attempts(self.retry, call, random.random)
        while True:
            failure: WaxwingError
            try:
                response = await self._answered(call, timeout_s)
            except httpx.TransportError as error:
                wait, failure = attempts.after_failure(was_sent=not isinstance(error, NOT_SENT)), self._gone(error)
                wait = None if trust.is_distrust(error) else wait
            else:
                headers = {name.lower(): value for name, value in response.headers.items()}
                refused = calls.error_of(response.status_code, headers, response.content, str(call))
                if refused is None:
                    return Answer(response.status_code, headers, response.content)
                wait, failure = attempts.after_answer(response.status_code, headers, datetime.now(UTC)), refused
            if wait is None:
                raise failure
            await asyncio.sleep(wait)

    @contextlib.asynccontextmanager
    async def lines(self, call: Call, silence_s: float) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of a stream, once. Raises ``ApiError``, ``NoConnection``, the latter also after ``silence_s``."""
        try:
            response = await self._answered(call, silence_s, stream=True)
            try:
                if response.status_code >= 400:
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    refused = calls.error_of(response.status_code, headers, await response.aread(), str(call))
                    assert refused is not None
                    raise refused
                calls.check_stream(response.headers.get("content-type", ""))
                yield response.aiter_lines()
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            raise self._gone(error) from None

    async def _answered(self, call: Call, timeout_s: float | None, *, stream: bool = False) -> httpx.Response:
        """One answer, after redirects within this server. Raises ``Redirected`` and httpx's errors."""
        for _ in range(calls.MOST_REDIRECTS + 1):
            request = self._request(call, timeout_s)
            try:
                response = await self._http.send(request, stream=stream)
            except httpx.DecodingError as error:
                raise UnexpectedAnswer(f"The answer of {request.url} cannot be read: {error}") from None
            except httpx.LocalProtocolError as error:
                raise InvalidMessage(f"{call.method} {request.url} cannot be sent: {error}") from None
            if not response.has_redirect_location:
                return response
            await response.aclose()
            call = calls.moved(call, str(request.url), response.status_code, response.headers["location"])
        raise Redirected(f"{self.config.url} redirects again and again, at last to {call.path}")

    def _request(self, call: Call, timeout_s: float | None) -> httpx.Request:
        try:
            return self._http.build_request(
                call.method,
                call.path,
                params=call.query or None,
                content=call.content or None,
                headers=call.headers,
                timeout=httpx.USE_CLIENT_DEFAULT if timeout_s is None else timeout_s,
            )
        except (UnicodeEncodeError, httpx.InvalidURL) as error:
            raise InvalidMessage(f"{call.method} {call.path:.80} cannot be sent: {error}") from None

    def _gone(self, error: httpx.TransportError) -> NoConnection:
        if trust.is_distrust(error):
            return NoConnection(f"{self.config.url}: {trust.UNKNOWN}")
        return NoConnection(f"{self.config.url} did not answer: {str(error) or type(error).__name__}")

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
