"""The interface between drivers and cores that serve connections of streams of bytes, such as TCP. Pure.

A driver numbers connections in the order of their beginnings, and reads one only while ``reads`` says so. After each
input it takes ``bytes_to_send`` and then ``connections_to_close``, which both clear a queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from overlay.core.node import Node


class StreamUser(Protocol):
    """A server that also serves connections."""

    def opened(self, number: int, now: int) -> None:
        """A connection begins; ``number`` was not used before."""
        ...

    def received(self, number: int, data: bytes, now: int) -> None:
        """Bytes, cut anywhere; also of a connection that the server has closed, which changes nothing."""
        ...

    def closed(self, number: int, now: int) -> None:
        """By the peer or the network, or because the peer does not read what it is sent."""
        ...

    def reads(self, number: int) -> bool:
        """Whether the connection is to be read."""
        ...

    def bytes_to_send(self) -> Sequence[tuple[int, bytes]]:
        """Since the last call, in order."""
        ...

    def connections_to_close(self) -> Sequence[int]:
        """Once what is to be sent has been sent."""
        ...


class StreamNode(Node, StreamUser, Protocol):
    """A ``Node`` with connections."""
