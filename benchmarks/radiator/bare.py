"""A minimal Python server for Radiator's exchange. Counterpart: ``exchange.c`` does the same in C.

It receives and sends as the server does, with ``overlay.runtime.datagrams``. In between it does only what every Python
program must do: unpack a header, look up a dictionary, concatenate bytes. Nothing is inflated or parsed; there is no
MAC, table of attributes, repeat, limit or journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from overlay.core.addresses import Address
from overlay.runtime.datagrams import Datagram

REGISTER, REGISTERED, CONTEXT, ACCEPTED, PUSH, ACK = 1, 2, 5, 6, 7, 8
OK, TOKEN = 0, 4
MAGIC = b"RD\x01"
REGISTER_HEAD = Struct(">4xIQQ")
REGISTERED_HEAD = Struct(">3sBIBQQ")
CONTEXT_HEAD = Struct(">4xIQQB")
ACCEPTED_HEAD = Struct(">3sBIBH")
PUSH_HEAD = Struct(">3sBQQHHHHBHH8s")
ACK_HEAD = Struct(">4xQQHHH32s")
DIRECT = 65_535


class Bare:
    """The exchange, and who has acknowledged what."""

    def __init__(self) -> None:
        self.clients: dict[Address, None] = {}
        self.ledger: dict[int, set[Address]] = {}
        """By propagation, who has not acknowledged it yet."""
        self._propagations = 0

    def answer(self, batch: Sequence[Datagram]) -> list[Datagram]:
        """The datagrams to send in reply to ``batch``."""
        out: list[Datagram] = []
        for data, source in batch:
            kind = data[3]
            if kind == ACK:
                propagation = ACK_HEAD.unpack_from(data)[1]
                left = self.ledger.get(propagation)
                if left is not None:
                    left.discard(source)
                    if not left:
                        del self.ledger[propagation]
            elif kind == CONTEXT:
                req, _, _, codec = CONTEXT_HEAD.unpack_from(data)
                out.append((ACCEPTED_HEAD.pack(MAGIC, ACCEPTED, req, OK, 0), source))
                self._propagations += 1
                number = self._propagations
                head = PUSH_HEAD.pack(MAGIC, PUSH, 1, number, DIRECT, 0, 0, 0, codec, 0, 1, b"")
                push = head + data[CONTEXT_HEAD.size :]
                self.ledger[number] = set(self.clients)
                out += [(push, client) for client in self.clients]
            elif kind == REGISTER:
                req, _, token = REGISTER_HEAD.unpack_from(data)
                if token:
                    self.clients[source] = None
                    out.append((REGISTERED_HEAD.pack(MAGIC, REGISTERED, req, OK, 1, 0) + bytes(8), source))
                else:
                    out.append((REGISTERED_HEAD.pack(MAGIC, REGISTERED, req, TOKEN, 1, 1), source))
        return out
