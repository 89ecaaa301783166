"""The settings of a channel, and the bounds that are no settings (contract, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from overlay.core.node import SECOND
from overlay.core.settings import check, setting

MIB: Final = 1 << 20
MOST_MESSAGE: Final = 65_536
"""Bytes of a message."""
MOST_ID: Final = 64
"""Bytes of a peer's id."""
MOST_QUEUED: Final = 16 * MIB
"""Bytes of messages of one peer, numbered and waiting together."""
MOST_SESSIONS: Final = 200_000
MOST_HALF_OPEN, MOST_HALF_OPEN_OF_ONE = 1_024, 4
HALF_OPEN = 3 * SECOND
MOST_ADDRESSES = 4_096
"""Unproven addresses of which the answers are remembered."""
ANSWERS_PER_S = 10
AMPLIFICATION = 3
"""Bytes that may go to an unproven address for each byte that came from it."""
MOST_PATHS = 4
"""Candidate addresses of a session."""
PATH_PROBES = 8
"""PROBEs of a candidate address if ``tries`` is 0."""
MOST_BYES = 3
CLOSE_AFTER = SECOND
"""How long ``close`` waits for what is not acknowledged."""
QUIET_PROBE = 2 * SECOND


@dataclass(frozen=True)
class ChannelSettings:
    """How a node's channel sends, and when it gives a peer up. The defaults are those of brokers in one network."""

    window: int = setting(
        256,
        unit="records",
        low=1,
        high=65_535,
        help="Records under way to a peer. A long window uses a link with a long delay better, and sends more into one "
        "that is full.",
    )
    queue: int = setting(
        10_000,
        unit="messages",
        low=1,
        high=1_000_000,
        help="Messages for a peer, waiting or not acknowledged. Beyond it, those that may be dropped are; at twice as "
        "many the session ends. A long queue trades loss for delay and memory.",
    )
    frame: int = setting(
        1_200,
        unit="bytes",
        low=200,
        high=60_000,
        help="Maximum bytes of a datagram. Above about 1,300, datagrams fragment; on one machine, long ones cost less.",
    )
    give_up_s: float = setting(
        5.0,
        unit="s",
        low=0,
        high=60,
        zero="off",
        help="Silence of a peer that has something to answer, after which it is unreachable. A short one finds "
        "failures early, and takes busy peers for dead.",
    )
    tries: int = setting(
        0,
        unit="sendings",
        low=0,
        high=30,
        zero="off",
        help="Sendings of one record without any answer, after which the peer is unreachable. The time that they take "
        "follows the round trip.",
    )
    probe_s: float = setting(
        5.0,
        unit="s",
        low=0,
        high=3_600,
        zero="off",
        help="A peer that was silent for so long is probed. Without probes, failures are found when there is something "
        "to send.",
    )

    def __post_init__(self) -> None:
        check(self)
