"""The nodes of a gateway: their connections, and the highest epoch of each, also of those that have none."""

from __future__ import annotations

from collections import Counter
from typing import Final

from overlay.systems.contextnet.transport.line import Line
from overlay.systems.contextnet.transport.receiver import Receiver
from overlay.systems.contextnet.transport.sender import Sender

_KNOWN_EPOCHS: Final = 100_000
"""Nodes without a connection of which the epoch is remembered, the newest ones."""


class Member:
    """A node with a connection, open or lingering."""

    __slots__ = (
        *("accept", "accepted_at", "connection", "epoch", "host", "is_told", "nonce", "receiver", "resumable"),
        *("resumed", "sender", "spent_at", "stream"),
    )

    def __init__(self, stream: int, is_durable: bool) -> None:
        self.stream = stream
        self.sender, self.receiver = Sender(), Receiver(is_durable)
        self.connection: Line | None = None
        self.epoch, self.nonce, self.host = 0, b"", ""
        self.accept, self.accepted_at = b"", 0
        """The ACCEPT of the last HELLO, until its connection was heard."""
        self.resumable: tuple[int, ...] = ()
        """The cids that a HELLO may resume: also the last one until the new one is heard."""
        self.resumed = False
        self.is_told = False
        """Whether its user knows of it."""
        self.spent_at = 0
        """Until when the messages that it sent would have lasted, at the rate that a node may have."""

    @property
    def is_open(self) -> bool:
        """Told, and not lingering."""
        return self.is_told and self.connection is not None and self.connection.is_open


class Members:
    def __init__(self, number: int) -> None:
        """``number``: of the gateway."""
        self._prefix = number << 48
        self.by_node: dict[bytes, Member] = {}
        self.by_cid: dict[int, Line] = {}
        self._epochs: dict[bytes, int] = {}
        self._hosts: Counter[str] = Counter()
        """Connections by host, as they were accepted."""
        self._streams = 0

    def add(self, node: bytes, is_durable: bool) -> Member:
        self._streams += 1
        member = self.by_node[node] = Member(self._streams, is_durable)
        return member

    def join(self, node: bytes, member: Member, connection: Line) -> None:
        """It has this connection, and none before."""
        member.connection = self.by_cid[connection.cid] = connection
        member.host = connection.address[0]
        self._hosts[member.host] += 1
        self._epochs.pop(node, None)

    def retire(self, member: Member) -> None:
        """Its connection, if it has one, is over."""
        if member.connection is not None:
            member.connection.stop()
            del self.by_cid[member.connection.cid]
            member.connection = None
            self._hosts[member.host] -= 1
            if not self._hosts[member.host]:
                del self._hosts[member.host]

    def remove(self, node: bytes) -> None:
        member = self.by_node[node]
        self.retire(member)
        del self.by_node[node]
        self.remember(node, max(member.epoch, self._epochs.get(node, 0)))

    def of_host(self, host: str) -> int:
        """How many connections."""
        return self._hosts.get(host, 0)

    def epoch_of(self, node: bytes) -> int:
        """The highest known; 0 if there is none, so that epochs begin with 1."""
        member = self.by_node.get(node)
        return max(member.epoch if member is not None else 0, self._epochs.get(node, 0))

    def remember(self, node: bytes, epoch: int) -> None:
        self._epochs.pop(node, None)
        self._epochs[node] = epoch
        if len(self._epochs) > _KNOWN_EPOCHS:
            del self._epochs[next(iter(self._epochs))]

    def cid(self, drawn: int) -> int:
        """The id of a connection from 48 random bits; 0: another one is to be drawn."""
        cid = self._prefix | drawn
        return 0 if cid in self.by_cid else cid

    def check_invariants(self) -> None:
        connections = [one.connection for one in self.by_node.values() if one.connection is not None]
        assert {connection.cid: connection for connection in connections} == self.by_cid
        assert len(connections) == len(self.by_node)
        assert Counter(member.host for member in self.by_node.values()) == self._hosts
        assert len(self._epochs) <= _KNOWN_EPOCHS
        for node, member in self.by_node.items():
            assert self._epochs.get(node, 0) <= member.epoch, "the highest epoch wins"
