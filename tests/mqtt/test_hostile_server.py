"""A connection to an MQTT server that means no good: its packets end the connection, or are cut, and take no memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from overlay.programs.context_broker.mqtt.bounded_client import MOST_PACKET_BYTES, READ_BYTES
from overlay.programs.context_broker.mqtt.connection import Connection
from overlay.programs.context_broker.mqtt.options import ServerOptions
from overlay.systems.context_broker.mqtt.payloads import MOST_BYTES
from tests.waiting import BOUND_S

CONNACK, SUBACK, PUBACK = b"\x20\x03\0\0\0", b"\x90\x04\0\x01\0\x01", 0x40


def packet(kind: int, body: bytes) -> bytes:
    """With the remaining length of MQTT 5.0, 1.5.5."""
    length, left = bytearray(), len(body)
    while left >= 128:
        length.append(left & 127 | 128)
        left >>= 7
    return bytes([kind, *length, left]) + body


def published(qos: int, payload: bytes) -> bytes:
    return packet(0x30 | qos << 1, b"\0\x03a/b" + (b"\0\x07" if qos else b"") + b"\0" + payload)


@asynccontextmanager
async def connected(
    sent: bytes, on_message: Callable[..., None] = lambda *message: None
) -> AsyncIterator[tuple[Connection, asyncio.StreamReader]]:
    """To a server that sends this; what it reads then."""
    reading = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(CONNACK + SUBACK + sent)
        reading.set_result((reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    connection = Connection(ServerOptions(host, port, "c", status_topic="s"), 10, on_message, lambda *_: None)
    try:
        await connection.open(("a/+",), b"")
        reader, writer = await reading
        yield connection, reader
        connection.close()
        writer.close()
    finally:
        server.close()


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (packet(0x30, b"\0\x03a/b\x05\xff\xff\xff\xff\xff"), "cannot be read"),
        (packet(0x30, b"\0"), "cannot be read"),
        (published(2, b"{}"), ""),
    ],
)
async def test_what_is_malformed_or_was_not_agreed_ends_the_connection(sent: bytes, why: str) -> None:
    loop, failures = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _, context: failures.append(context))
    async with asyncio.timeout(BOUND_S), connected(sent) as (connection, reader):
        assert why in await connection.lost
        while await reader.read(1000):
            pass  # until the bridge has closed it
    assert failures == []
    assert connection._client._in_messages == {}


async def test_a_packet_of_many_megabytes_is_cut_and_acknowledged_like_any_other_that_is_too_long() -> None:
    messages = asyncio.Queue[tuple[Any, ...]]()
    long, short = published(1, b"x" * 8_000_000), published(0, b"{}")
    async with (
        asyncio.timeout(BOUND_S),
        connected(long + short, lambda *message: messages.put_nowait(message)) as (connection, reader),
    ):
        topic, payload, mid, *_ = await messages.get()
        assert (topic, mid) == ("a/b", 7)
        assert MOST_BYTES < len(payload) <= MOST_PACKET_BYTES + READ_BYTES + 1
        assert (await messages.get())[:2] == ("a/b", b"{}")
        connection.acknowledge(7)
        await reader.readuntil(bytes([PUBACK, 2, 0, 7]))
