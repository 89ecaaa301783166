"""Messages of datagrams in the order in which they were sent, those in several records joined. Pure.

``overlay.channel.receiver`` puts the records of a session in order; here is one for each incarnation.
"""

from __future__ import annotations

from brokerweb.wirelab.channel.dissecting import messages_in
from overlay.channel import wire
from overlay.channel.receiver import Receiver
from overlay.channel.records import split

MOST_SESSIONS = 4_096
"""Directions of sessions that are remembered; those heard longest ago go first."""
WINDOW = 1_024
"""Records that may come early. Beyond, what is missing is in no datagram, and reading goes on behind it."""


class Assembler:
    def __init__(self) -> None:
        self._by_receiver: dict[int, Receiver] = {}
        """By the incarnation that they go to."""

    def take(self, data: bytes) -> tuple[bytes, ...]:
        """The messages that a datagram completes. One sent again completes none."""
        if len(data) < wire.HEAD_BYTES or data[0] != wire.MAGIC:
            return ()
        if data[1] != wire.DATA:
            return tuple(messages_in(data))
        _, _, _, to, seq, _, _ = wire.HEAD.unpack_from(data)
        records = split(data, wire.HEAD_BYTES, len(data))
        receiver = self._receiver(to, seq)
        first = wire.nearest(seq, receiver.ack)
        if first + len(records) - 1 > receiver.ack + WINDOW or receiver.is_broken:
            receiver = self._by_receiver[to] = _beginning(first)
        messages: list[bytes] = []
        receiver.take(first, records, messages)
        return tuple(messages)

    def _receiver(self, to: int, seq: int) -> Receiver:
        known = self._by_receiver.pop(to, None) or _beginning(seq)
        self._by_receiver[to] = known
        if len(self._by_receiver) > MOST_SESSIONS:
            del self._by_receiver[next(iter(self._by_receiver))]
        return known


def _beginning(number: int) -> Receiver:
    """One that has received everything before ``number``."""
    made = Receiver(WINDOW)
    made.ack = number - 1
    return made
