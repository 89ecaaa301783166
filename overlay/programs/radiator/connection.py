"""One HTTP/1.1 connection of the gateway, with limits of bytes and time. Counterpart: ``routes`` has the requests.

h11 parses. ``http.server`` needs a thread for each connection, which streams and slow peers would use up; uvicorn has
no limits of time for a request and for a reader of a stream.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import h11

from overlay.programs.radiator.limits import Limits
from overlay.programs.radiator.requests import Wrong
from overlay.programs.radiator.routes import Answer, Request, Routes, Streaming, error

READ_BYTES = 4_096
"""Parsed at once. In chunks of one byte each it takes some 20 ms, in which no other client is served."""
LINGER_S, LINGER_READS = 2.0, 64
STREAM_BUFFER = 65_536
"""Bytes that wait for a reader of a stream before it has to catch up, here and in the kernel."""
UNACKNOWLEDGED_MS = 30_000
"""After which the kernel gives up a stream whose peer has vanished."""
SSE = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Connection:
    """Requests one after the other. ``serve`` raises ``OSError`` and ``TimeoutError`` if the peer is gone."""

    def __init__(
        self,
        routes: Routes,
        limits: Limits,
        counts: Counter[str],
        turns: asyncio.Lock,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """``turns`` is shared by the connections of a source."""
        self._routes, self._limits, self._counts, self._turns = routes, limits, counts, turns
        self._reader, self._writer = reader, writer
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head_bytes)
        self._is_head = False
        """Whether the request is HEAD, whose answer has no body."""
        self._source: str = writer.get_extra_info("peername")[0]
        self._home: tuple[str, int] = writer.get_extra_info("sockname")[:2]

    async def serve(self) -> None:
        while True:
            try:
                request = await self._request()
            except Wrong as wrong:
                await self._refuse(wrong)
                return
            if request is None:
                return
            answer = await self._routes.answer(request)
            if isinstance(answer, Streaming):
                await self._stream(answer)
                return
            await self._respond(answer)
            if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
                return
            self._h11.start_next_cycle()

    # ---- a request

    async def _request(self) -> Request | None:
        """The next one; ``None`` if the peer makes no more. Raises ``Wrong``."""
        self._is_head = False
        try:
            async with asyncio.timeout(self._limits.request_s):
                await self._turn()
                return await self._read()
        except TimeoutError:
            if self._h11.their_state is h11.IDLE and not self._h11.trailing_data[0]:
                return None
            self._counts["too_slow"] += 1
            sentence = f"the request did not arrive in {self._limits.request_s:g} s"
            raise Wrong(HTTPStatus.REQUEST_TIMEOUT, sentence) from None
        except h11.RemoteProtocolError as wrong:
            raise Wrong(HTTPStatus(wrong.error_status_hint), f"malformed HTTP: {wrong}") from None

    async def _read(self) -> Request | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._h11.next_event()
            if event is h11.NEED_DATA:
                await self._more()
            elif isinstance(event, h11.Request):
                head, self._is_head = event, event.method == b"HEAD"
                self._check_head(_headers(event))
            elif isinstance(event, h11.Data):
                body += event.data
                self._check_size(len(body))
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                method, target = head.method.decode("ascii"), head.target.decode("ascii")
                return Request(method, target, _headers(head), bytes(body), self._source, self._home)
            else:
                return None  # closed, or paused, which ``serve`` prevents

    async def _more(self) -> None:
        if self._h11.they_are_waiting_for_100_continue:
            going_on = h11.InformationalResponse(status_code=HTTPStatus.CONTINUE, headers=[])
            await self._write(self._h11.send(going_on) or b"")
        data = await self._reader.read(READ_BYTES)
        await self._turn()
        self._h11.receive_data(data)

    async def _turn(self) -> None:
        """Wait for a round of the event loop in which no other connection of this source has parsed.

        A connection whose bytes are there already never waits by itself, and would be served before all others.
        """
        async with self._turns:
            await asyncio.sleep(0)

    def _check_head(self, headers: Mapping[str, str]) -> None:
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy that goes by the other one takes the rest of the body for a request (RFC 9112, 6.1).
            raise Wrong(HTTPStatus.BAD_REQUEST, "give Content-Length or Transfer-Encoding, not both")
        self._check_size(int(headers.get("content-length", "0")))

    def _check_size(self, size: int) -> None:
        if size > self._limits.request_bytes:
            sentence = f"a request has at most {self._limits.request_bytes:,} bytes"
            raise Wrong(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)

    # ---- answers

    async def _refuse(self, wrong: Wrong) -> None:
        """The connection ends: what follows may be the rest of a request."""
        if self._h11.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            await self._respond(error(wrong, Connection="close"))
            await self._linger()

    async def _linger(self) -> None:
        """Read a little of what follows: the peer loses the answer if the connection is reset while it still sends."""
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(LINGER_S):
                self._writer.write_eof()
                for _ in range(LINGER_READS):
                    if not await self._reader.read(READ_BYTES):
                        return

    async def _respond(self, answer: Answer) -> None:
        body = answer.body
        headers = {"Content-Length": str(len(body)), **answer.headers}
        if body:
            headers["Content-Type"] = "application/json"
        if answer.status is HTTPStatus.NO_CONTENT:
            del headers["Content-Length"]
        self._counts[f"answers_{answer.status.value}"] += 1
        data = self._head(answer.status, headers)
        if not self._is_head:
            data += self._h11.send(h11.Data(data=body)) or b""
        await self._write(data + (self._h11.send(h11.EndOfMessage()) or b""))

    def _head(self, status: HTTPStatus, headers: Mapping[str, str]) -> bytes:
        fields = list(headers.items())
        return self._h11.send(h11.Response(status_code=status.value, headers=fields, reason=status.phrase)) or b""

    async def _write(self, data: bytes) -> None:
        """Raises ``TimeoutError`` if the peer does not read."""
        self._writer.write(data)
        async with asyncio.timeout(self._limits.write_s):
            await self._writer.drain()

    async def _stream(self, streaming: Streaming) -> None:
        """Until it ends, or the peer closes, or does not read: then it is cut off."""
        self._counts["streams"] += 1
        _bound_stream(self._writer.get_extra_info("socket"))
        self._writer.transport.set_write_buffer_limits(high=STREAM_BUFFER)
        gone, pump = asyncio.ensure_future(self._reader.read(1)), asyncio.ensure_future(self._pump(streaming))
        try:
            await asyncio.wait((gone, pump), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, pump):
                task.cancel()
            await asyncio.gather(gone, pump, return_exceptions=True)
            await streaming.frames.aclose()

    async def _pump(self, streaming: Streaming) -> None:
        try:
            await self._write(self._head(HTTPStatus.OK, {**SSE, **streaming.headers}))
            async for frame in streaming.frames:
                await self._write(self._h11.send(h11.Data(data=frame)) or b"")
                streaming.client.hear()
            await self._write(self._h11.send(h11.EndOfMessage()) or b"")
        except TimeoutError:
            self._counts["slow_readers"] += 1
            self._writer.transport.abort()


def _headers(request: h11.Request) -> dict[str, str]:
    return {name.decode("ascii"): value.decode("latin-1") for name, value in request.headers}


def _bound_stream(sock: Any) -> None:
    """The kernel would keep megabytes for a slow reader, and a quarter of an hour for one that has vanished."""
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STREAM_BUFFER)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)
