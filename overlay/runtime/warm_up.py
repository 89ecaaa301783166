"""A broker's life in little, lived by the supervisor before it forks the first one.

Whatever a process does for the first time writes to its memory: modules are imported, bytecode is specialised, caches
of types and functions are filled. Done before the fork, it is done once and shared: ``docs/memory.md`` has the figures.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.runtime.clock import unix_ms
from overlay.runtime.server_process import BrokerProcess
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.messages import (
    BrokerJoining,
    ContextRequest,
    ContextUpdateAdvertisement,
    Ping,
    StartNeighborsMonitoring,
)
from overlay.systems.context_broker.broker.wire import encode

TIMES = 20
"""Bytecode is specialised after some eight times."""
LONG_ENOUGH = 100 * MILLISECOND


def rehearse(directory: Path) -> None:
    """Be a broker for a moment, with a journal in ``directory`` for as long.

    What goes wrong, such as a full disk, will be said by the real ones.
    """
    journal = directory / "rehearsal.journal"
    with suppress(OSError):
        process = BrokerProcess(BrokerConfig(), ("127.0.0.1", 0), seed=0, journal=journal)
        process.run(_play_clients, until=monotonic_ns() + LONG_ENOUGH)
    with suppress(OSError):
        journal.unlink()


def _play_clients(broker: Address) -> None:
    """Be its neighbour, provider, consumer and controller, and listen to no answer."""
    now = unix_ms(monotonic_ns())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.sendto(encode(BrokerJoining(now, (sock.getsockname(),), passed_on=True)), broker)
        sock.sendto(encode(StartNeighborsMonitoring(now)), broker)
        for stamp in range(now, now + TIMES):
            held, missing = ("room", "held", "climate"), ("room", f"missing{stamp}", "climate")
            update = ContextUpdateAdvertisement(stamp, "U", "rehearsal", *held, now - 1000, now + 60_000, b"degC=21.5")
            for message in (Ping(stamp), update, ContextRequest(stamp, *held), ContextRequest(stamp, *missing)):
                sock.sendto(encode(message), broker)
