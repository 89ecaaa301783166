"""Datagrams that warm up a broker before the first fork, so that forked brokers share more memory. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from overlay.core.addresses import Address
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import (
    BrokerJoining,
    ContextRequest,
    ContextUpdateAdvertisement,
    Ping,
    StartNeighborsMonitoring,
)

TIMES = 20
"""Repetitions. Bytecode is specialised after about eight."""


def datagrams(own: Address, unix_ms: int) -> list[bytes]:
    """The datagrams of ``own`` as a broker's neighbour, provider, consumer and controller."""
    return list(_datagrams(own, unix_ms))


def _datagrams(own: Address, unix_ms: int) -> Iterator[bytes]:
    yield encode(BrokerJoining(unix_ms, (own,), passed_on=True))
    yield encode(StartNeighborsMonitoring(unix_ms))
    valid = unix_ms - 1000, unix_ms + 60_000
    for stamp in range(unix_ms, unix_ms + TIMES):
        held, missing = ("room", "held", "climate"), ("room", f"missing{stamp}", "climate")
        yield encode(Ping(stamp))
        yield encode(ContextUpdateAdvertisement(stamp, "U", "rehearsal", *held, *valid, b"degC=21.5"))
        yield encode(ContextRequest(stamp, *held))
        yield encode(ContextRequest(stamp, *missing))
