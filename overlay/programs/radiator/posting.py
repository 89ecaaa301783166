"""One POST over HTTP/1.1 on a connection of its own, within a time. Redirects are not followed."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

import h11

from overlay.core.address_policy import Network, refusal
from overlay.core.addresses import Address, format_address
from overlay.programs.radiator.limits import Places
from overlay.programs.radiator.requests import PORTS

READ_BYTES = 4_096
MOST_HEAD_BYTES = 16_384
MOST_INTERIM = 8
"""Answers 1xx before the answer. One who sends them without end would keep the event loop busy."""
LOOKUPS = 16
"""Host names at once, each in a thread."""
LOOKUPS_OF_SOURCE = 4
"""Of these, for the clients of one address: a name server that does not answer keeps a thread for long."""
POSTS_TO_ADDRESS = 16
"""Callbacks to one IP address at once: its owner has not agreed to any."""
PLACE_S = 60.0
"""To wait for one of these."""


class Target(NamedTuple):
    """Where a POST goes. ``tls_name`` is the host's name in its certificate; empty without TLS."""

    address: Address
    host: str
    path: str
    tls_name: str = ""


async def post(target: Target, headers: Mapping[str, str], body: bytes, seconds: float) -> int:
    """The status of the answer; 0 if there is none in time."""
    with suppress(OSError, TimeoutError, h11.ProtocolError, ValueError):
        async with asyncio.timeout(seconds):
            return await _post(target, headers, body)
    return 0


async def _post(target: Target, headers: Mapping[str, str], body: bytes) -> int:
    tls = {"ssl": _trusting(), "server_hostname": target.tls_name} if target.tls_name else {}
    reader, writer = await asyncio.open_connection(*target.address, **tls)  # type: ignore[arg-type]
    try:
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD_BYTES)
        fields = {"Host": target.host, "Content-Length": str(len(body)), "Connection": "close", **headers}
        writer.write(
            connection.send(h11.Request(method="POST", target=target.path, headers=list(fields.items()))) or b""
        )
        writer.write(connection.send(h11.Data(data=body)) or b"")
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        return await _status(connection, reader)
    finally:
        writer.transport.abort()


async def _status(connection: h11.Connection, reader: asyncio.StreamReader) -> int:
    interim = 0
    while interim <= MOST_INTERIM:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(READ_BYTES))
        elif isinstance(event, h11.Response):
            return event.status_code
        elif isinstance(event, h11.InformationalResponse):
            interim += 1
        else:
            return 0
    return 0


def at_port(address: Address) -> Target:
    """``POST /receive`` of a client."""
    return Target(address, format_address(address), "/receive")


class Callbacks:
    """Resolves URLs to addresses that the operator allows: the public internet, and the ``allowed`` networks."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = allowed
        self._lookups = ThreadPoolExecutor(LOOKUPS, "radiator-names")
        self._looking_up: Counter[str] = Counter()
        """For each source."""
        self._places = Places(POSTS_TO_ADDRESS)

    async def post(self, target: Target, headers: Mapping[str, str], body: bytes, seconds: float) -> int:
        """As ``post``, of which some go to an IP address at the same time."""
        with suppress(TimeoutError):
            async with self._places.one(target.address[0], PLACE_S):
                return await post(target, headers, body, seconds)
        return 0

    def close(self) -> None:
        self._lookups.shutdown(wait=False, cancel_futures=True)

    def refusal(self, url: str) -> str:
        """Why a URL with a numeric host, in any notation, is refused at once; empty for names, resolved at each try."""
        host = urlsplit(url).hostname or ""
        if "%" in host:
            return "the address must not name a network interface"
        with suppress(OSError, UnicodeError):
            for place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST):
                if why := refusal(str(place[4][0]), self._allowed):
                    return why
        return ""

    async def resolve(self, url: str, source: str, seconds: float) -> Target | None:
        """The first permitted address, to be used for the connection: a later change of the name has no effect.

        ``None`` if there is none, or if the clients of ``source`` wait for too many names already.
        """
        if self._looking_up[source] >= LOOKUPS_OF_SOURCE:
            return None
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        looking_up = asyncio.get_running_loop().run_in_executor(self._lookups, _look_up, host, port)
        self._looking_up[source] += 1
        looking_up.add_done_callback(lambda _: self._has_looked_up(source))
        try:
            async with asyncio.timeout(seconds):
                places = await asyncio.shield(looking_up)  # the thread goes on
        except (OSError, TimeoutError, UnicodeError):
            return None
        found = [place for place in places if not refusal(place, self._allowed)]
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        host_field = parts.netloc
        return Target((found[0], port), host_field, path, host if parts.scheme == "https" else "") if found else None

    def _has_looked_up(self, source: str) -> None:
        self._looking_up[source] -= 1
        if not self._looking_up[source]:
            del self._looking_up[source]


def _look_up(host: str, port: int) -> list[str]:
    return [str(place[4][0]) for place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@lru_cache(maxsize=1)
def _trusting() -> ssl.SSLContext:
    return ssl.create_default_context()
