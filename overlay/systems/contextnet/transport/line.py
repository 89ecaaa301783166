"""A connection as its end sees it, whatever carries it: two directions, an address, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlay.channel.deadlines import Owner
from overlay.core.addresses import Address
from overlay.systems.contextnet.transport.packets import Close
from overlay.systems.contextnet.transport.receiver import Receiver
from overlay.systems.contextnet.transport.sender import Sender

if TYPE_CHECKING:
    from overlay.systems.contextnet.transport.station import Station


class Line(Owner):
    """What both transports have in common; a class rather than a protocol, as ``Owner``."""

    __slots__ = ("address", "cid", "is_open", "is_restrained", "node", "receiver", "sender", "station")

    def __init__(
        self, station: Station, node: bytes, cid: int, address: Address, sender: Sender, receiver: Receiver
    ) -> None:
        super().__init__()
        self.station, self.node, self.cid, self.address = station, node, cid, address
        """``cid`` names it when it is to be resumed."""
        self.sender, self.receiver = sender, receiver
        self.is_open = True
        self.is_restrained = False
        """Whether the peer sends more than its share, and is told that we are busy."""

    @property
    def is_slow(self) -> bool:
        """Whether what is sent to the peer now will wait for it."""
        raise NotImplementedError

    def flush(self) -> None:
        """Send what may be sent, once all input of an instant is read."""
        raise NotImplementedError

    def settled(self) -> None:
        """The acknowledgement of the receiver rose."""
        raise NotImplementedError

    def ping(self, value: int) -> None:
        raise NotImplementedError

    def confirm(self) -> None:
        """A node's first packets."""
        raise NotImplementedError

    def close(self, reason: Close) -> None:
        """Tell the peer, then the station (``closed``)."""
        raise NotImplementedError

    def linger(self, until: int) -> None:
        """``stop``; the station is told (``broken``) when it has lasted."""
        raise NotImplementedError

    def stop(self) -> None:
        """Nothing more of the user is sent or due."""
        raise NotImplementedError

    def check_invariants(self) -> None:
        raise NotImplementedError
