"""The settings of the transport (contract, section 8), and the bounds that are no settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from overlay.core.errors import InvalidSetting
from overlay.core.node import SECOND
from overlay.core.settings import check, setting

MOST_WAIT: Final = 8 * SECOND
"""Of a time-out with its back-off, and between repeats of a node's first ACK."""
FIRST_RTO: Final = SECOND
"""Before the first sample (RFC 6298)."""
HELLO_WAITS: Final = (1, 2, 4, 4)
"""Seconds after each HELLO; after the last one the node tries another gateway."""
MOST_BACKOFF: Final = 60 * SECOND
"""Between two cycles over all gateways."""
SAME_ACCEPT: Final = 10 * SECOND
"""How long the same HELLO gets the same ACCEPT; later it is dropped."""
CHALLENGES, CHALLENGE_WAIT = 3, SECOND
VALIDATIONS_PER_MINUTE: Final = 10
AMPLIFICATION: Final = 3
"""Bytes that may go to an address under validation for each byte that came from it."""
ANSWERS_PER_S: Final = 10
"""RESETs of a gateway, and refusals of other versions."""
HANDSHAKES_PER_S: Final = 2_000
"""HELLOs with a cookie, of which a gateway checks the proof."""
MESSAGES_PER_S, BYTES_PER_S = 500, 4_000_000
"""Of one node: one with a greater share of either for longer than ``MOST_AHEAD`` is told that the gateway is busy."""
MOST_AHEAD, TOO_FAR_AHEAD = SECOND, 4 * SECOND
"""A node that goes on until it is so much ahead is closed. One that obeys sends at most 32 DATA in a time-out."""
MOST_MESSAGE: Final = 60_000
"""Bytes of a payload, as ACCEPT says."""


TETHER, QUIC = "tether", "quic"
"""Values of ``transport``."""


@dataclass(frozen=True)
class TransportSettings:
    """How gateways and nodes send, and when they give each other up. The gateway's are told to the node by ACCEPT."""

    transport: str = setting(
        TETHER,
        choices=(TETHER, QUIC),
        help="What carries messages between nodes and gateways. tether: our own, authenticated and not encrypted; "
        "quic: QUIC with TLS 1.3, live only, for several times the processor time and memory.",
    )
    rto_min_ms: int = setting(
        200, unit="ms", low=20, high=10_000, help="Least time-out before DATA is repeated. A short one repeats more."
    )
    retries: int = setting(
        5, unit="repeats", low=0, high=20, help="Repeats of one DATA by the timer, after which a connection is broken."
    )
    ack_delay_ms: int = setting(
        25, unit="ms", low=0, high=200, help="How long an acknowledgement waits for a packet to ride on."
    )
    window: int = setting(32, unit="DATA", low=1, high=32, help="Unacknowledged DATA of a connection and direction.")
    keepalive_s: int = setting(
        25, unit="s", low=1, high=600, help="Silence of a node, after which it sends a PING. It keeps NATs open."
    )
    idle_s: int = setting(
        90, unit="s", low=5, high=3_600, help="Silence of a peer, after which a connection is broken."
    )
    linger_s: int = setting(
        60, unit="s", low=0, high=600, zero="off", help="How long a gateway keeps a broken connection for its node."
    )
    resume: bool = setting(True, unit="", help="Whether a new connection goes on where the broken one ended.")
    validation: bool = setting(
        True,
        unit="",
        help="Whether a connection follows its node to a new address. Otherwise the node makes a new connection.",
    )
    tag_bytes: int = setting(
        8, unit="bytes", low=8, high=16, help="Least length of a tag, 8 or 16. A long one costs bytes, and is safer."
    )
    reconnect_ms: int = setting(
        500, unit="ms", low=10, high=60_000, help="Wait of a node that no gateway has accepted. It doubles up to 60 s."
    )
    queue_per_connection: int = setting(
        256, unit="messages", low=1, high=65_536, help="Messages that wait for the window. Beyond it, none is taken."
    )
    max_connections: int = setting(
        20_000, unit="connections", low=1, high=200_000, help="Connections of a gateway, lingering ones included."
    )
    accept_per_s: int = setting(
        500, unit="1/s", low=1, high=100_000, help="New connections of a gateway. A low limit spreads a storm of nodes."
    )
    repeat_share: float = setting(
        0.5,
        unit="repeats per first transmission",
        low=0,
        high=1,
        help="Bound of repeats. Without one, repeats eat the capacity of a gateway with too much work.",
    )
    bound_repeats: bool = setting(True, unit="", help="Whether repeat_share bounds repeats.")

    def __post_init__(self) -> None:
        check(self)
        if self.tag_bytes not in (8, 16):
            raise InvalidSetting("tag_bytes", f"a tag has 8 or 16 bytes, not {self.tag_bytes}")
