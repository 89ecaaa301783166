"""The least Python that does the same as a gateway, without sockets: nothing is checked but tags; there are no windows,
repeats, limits, duplicates, timers or reports. Its layouts are those of the transport, without echoes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2s
from struct import Struct
from typing import Any

import msgpack

from benchmarks.contextnet.standing import CONTEXT, PAYLOAD

HEAD, PART = Struct(">BBQIII"), Struct(">IBBB")
ACK, DATA, TAG_BYTES, FIRST = 0x16, 0x15, 8, 0x0001 << 48
GATEWAY = "gateway-0"


class Node:
    """What a gateway keeps of a node."""

    __slots__ = ("acked", "key_in", "key_out", "name", "number", "waiting")

    def __init__(self, number: int) -> None:
        self.name, self.number, self.acked = number.to_bytes(16, "big"), 0, 0
        self.key_in, self.key_out = bytes([1]) * 32, bytes([2]) * 32
        self.waiting: dict[int, int] = {}
        """Positions of records, by sequence."""


class Least:
    def __init__(self, nodes: int) -> None:
        self.nodes = {FIRST + number: Node(number) for number in range(nodes)}
        self._by_name = {node.name: cid for cid, node in self.nodes.items()}
        self._position = 0

    def take_in(self, datagrams: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Keys and values of records."""
        found = []
        for data in datagrams:
            _, _, cid, _, _, _ = HEAD.unpack_from(data)
            node = self.nodes[cid]
            if blake2s(data[:-TAG_BYTES], digest_size=TAG_BYTES, key=node.key_in).digest() == data[-TAG_BYTES:]:
                node.acked = PART.unpack_from(data, HEAD.size)[0] + 1
                message = msgpack.unpackb(data[HEAD.size + PART.size : -TAG_BYTES])
                found.append((node.name, msgpack.packb({"v": 1, "message": message, "gateway": GATEWAY, "epoch": 1})))
        return found

    def give_out(self, records: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        found = []
        for name, value in records:
            cid = self._by_name[name]
            node = self.nodes[cid]
            self._position += 1
            node.waiting[node.number] = self._position
            message = msgpack.packb(msgpack.unpackb(value)["message"])
            sealed = HEAD.pack(DATA, 0, cid, node.number, node.acked, 0) + PART.pack(node.number, 0, 1, 1) + message
            found.append(sealed + blake2s(sealed, digest_size=TAG_BYTES, key=node.key_out).digest())
            node.number += 1
        return found

    def settle(self, datagrams: Sequence[bytes]) -> int:
        settled = 0
        for data in datagrams:
            _, _, cid, _, ack, _ = HEAD.unpack_from(data)
            node = self.nodes[cid]
            if blake2s(data[:-TAG_BYTES], digest_size=TAG_BYTES, key=node.key_in).digest() == data[-TAG_BYTES:]:
                for sequence in [one for one in node.waiting if one < ack]:
                    del node.waiting[sequence]
                    settled += 1
        return settled

    # ---- what nodes and applications do

    def sent(self) -> list[bytes]:
        """A message of each node."""
        return list(self._sealed(DATA, True))

    def acknowledgements(self) -> list[bytes]:
        """Of all that each node got."""
        return list(self._sealed(ACK, False))

    def _sealed(self, kind: int, is_message: bool) -> Iterator[bytes]:
        for cid, node in self.nodes.items():
            body = PART.pack(node.acked, 0, 1, 1) + _message(node) if is_message else b""
            sealed = HEAD.pack(kind, 0, cid, node.acked, node.number, 0) + body
            yield sealed + blake2s(sealed, digest_size=TAG_BYTES, key=node.key_in).digest()


def answers(records: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Those of an application."""
    return [
        (name, msgpack.packb({"v": 1, "message": _answer(value), "epoch": 1, "attempts": 0})) for name, value in records
    ]


def _answer(value: bytes) -> dict[str, Any]:
    message: dict[str, Any] = msgpack.unpackb(value)["message"]
    return {**message, "source": "application-0", "destination": message["source"], "context": b"", "reply_to": ""}


def _message(node: Node) -> bytes:
    name = node.name.hex()
    fields = {"id": bytes(16), "source": name, "destination": "inbound", "created_at": 0, "ttl_s": 0, "v": 1}
    data: bytes = msgpack.packb({**fields, "payload": PAYLOAD, "context": CONTEXT, "reply_to": name})
    return data
