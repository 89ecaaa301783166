"""What both ends tell aioquic, and its clock."""

from __future__ import annotations

import ssl
from functools import lru_cache
from typing import Final

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import logger

from overlay.core.node import SECOND
from overlay.systems.contextnet.quic.certificate import Identity

PROTOCOL: Final = "waxwing-contextnet"
"""Of ALPN."""
CID_BYTES: Final = 8
MOST_AHEAD: Final = 65_536
"""Bytes that the peer may send before they are read. A full window has 37 kB."""
HANDSHAKES_PER_S: Final = 200
"""Begun from proven addresses: each costs a gateway milliseconds."""
HALF_OPEN: Final = 1_000
"""Connections of a gateway that have no node so far."""
HANDSHAKE: Final = 10 * SECOND
"""How long they may have none."""
CLOSING: Final = 5 * SECOND
"""How long a connection waits for its peer to end it after a CLOSE or REFUSE."""
logger.disabled = True  # strangers could fill the output of a gateway
_ROUNDED: Final = 1_000
"""Nanoseconds after a deadline of aioquic, whose times are floats, so that it has come for it, too."""


def seconds(ns: int) -> float:
    return ns / SECOND


def due(at: float | None, now: int, never: int) -> int:
    """The instant (ns) of a deadline of aioquic, after ``now``."""
    return never if at is None else max(round(at * SECOND), now) + _ROUNDED


def of_gateway(identity: Identity, idle_s: int) -> QuicConfiguration:
    return QuicConfiguration(
        alpn_protocols=[PROTOCOL],
        certificate=identity.certificate,
        private_key=identity.key,
        connection_id_length=CID_BYTES,
        idle_timeout=float(idle_s),
        is_client=False,
        max_data=MOST_AHEAD,
        max_stream_data=MOST_AHEAD,
    )


@lru_cache(maxsize=64)
def of_node(idle_s: int) -> QuicConfiguration:
    """The same object for thousands of nodes. The certificate is checked by the proof of ACCEPT."""
    return QuicConfiguration(
        alpn_protocols=[PROTOCOL],
        connection_id_length=CID_BYTES,
        idle_timeout=float(idle_s),
        is_client=True,
        max_data=MOST_AHEAD,
        max_stream_data=MOST_AHEAD,
        verify_mode=ssl.CERT_NONE,
    )
