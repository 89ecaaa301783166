"""A broker's life in little, lived by the supervisor before it forks the first one.

Whatever a process does for the first time writes to its memory: modules are imported, bytecode is specialised, caches
of types and functions are filled. Done before the fork, it is done once and shared. Measured on ten idle brokers, when
a rehearsal answered fewer requests than today: each had 4.2 MB for itself without it and 3.1 MB with it, and took 4.0
ms of processor time without it and 2.5 ms with it to be ready.
"""

from __future__ import annotations

import signal
import socket
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic_ns

from overlay.addresses import Address
from overlay.broker.config import BrokerConfig
from overlay.broker.messages import (
    BrokerJoining,
    ContextRequest,
    ContextUpdateAdvertisement,
    Ping,
    StartNeighborsMonitoring,
)
from overlay.broker.wire import encode
from overlay.node import MILLISECOND
from overlay.runtime.clock import unix_ms
from overlay.runtime.daemon import run_broker

TIMES = 20
"""Bytecode is specialised after some eight times."""
LONG_ENOUGH = 100 * MILLISECOND


def rehearse() -> None:
    """Be a broker for a moment. What goes wrong, such as a full disk, will be said by the real ones."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    # Held back: they are meant for the supervisor, and the broker that is played would take them for itself.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, handlers)
    try:
        with suppress(OSError), TemporaryDirectory() as directory:
            run_broker(
                BrokerConfig(),
                ("127.0.0.1", 0),
                seed=0,
                journal=Path(directory, "rehearsal.journal"),
                on_ready=_play_clients,
                until=monotonic_ns() + LONG_ENOUGH,
            )
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
