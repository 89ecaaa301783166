"""What the QUIC connections of an end share: whose a datagram is, and who is asked about the handshake."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from overlay.systems.contextnet.quic.frames import Frame

if TYPE_CHECKING:
    from overlay.systems.contextnet.quic.line import QuicLine


class Board:
    def __init__(
        self,
        secured: Callable[[QuicLine], None],
        greeted: Callable[[QuicLine, Frame], None],
        lost: Callable[[QuicLine], None],
    ) -> None:
        """``secured``: TLS is done. ``greeted``: a frame came before there is a node; it may raise ``BadPacket``.
        ``lost``: a connection is gone that has no node."""
        self.secured, self.greeted, self.lost = secured, greeted, lost
        self.by_cid: dict[bytes, QuicLine] = {}
        """By the ids that peers write into their packets."""
        self.strangers: dict[QuicLine, None] = {}
        """Those that have no node so far, or no longer."""

    def check_invariants(self) -> None:
        assert all(line.quic is not None for line in self.by_cid.values())
        assert all(not line.is_open and line.quic is not None for line in self.strangers)
