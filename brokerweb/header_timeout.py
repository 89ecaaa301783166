"""Timeouts for request headers, and for clients that take nothing: uvicorn has none. Each connection is a file."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.h11_impl import H11Protocol

UNREAD_MS = 60_000
"""The kernel ends a connection whose client has acknowledged nothing, or has no room, for so long. Otherwise it would
keep what a stream that was ended could not send."""


class HeadDeadline(H11Protocol):
    """Closes a connection if no request headers arrive within ``HEAD_SECONDS`` after its opening or last response.

    Responses may take any time. Websockets switch to another protocol after their headers.
    """

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        self._wait_for_head(None)

    def on_response_complete(self) -> None:
        answered = self.cycle
        super().on_response_complete()  # which starts a pipelined request
        self._wait_for_head(answered)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _wait_for_head(self, answered: Any) -> None:
        self._forget()
        self._due = self.loop.call_later(settings.HEAD_SECONDS, self._close_unless_asked, answered)

    def _close_unless_asked(self, answered: Any) -> None:
        if self.cycle is answered and self.transport.get_protocol() is self:
            self.transport.close()

    def _forget(self) -> None:
        if self._due is not None:
            self._due.cancel()
