"""Bytes: what is counted was sent, the uplink keeps its rate, pushes go to reachable clients, strangers get little."""

from __future__ import annotations

from collections import Counter, deque

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.core.node import SECOND
from overlay.systems.radiator.accounting import HEADERS
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import Settings
from overlay.systems.radiator.wire.codec import parse
from overlay.systems.radiator.wire.messages import Ack, Push


class Uplink:
    """Of one life of a server."""

    def __init__(self, server: Service, settings: Settings, *, is_punctual: bool, may_be_cut: bool) -> None:
        """A driver that is not punctual sends late what should have left before."""
        self._server, self._settings, self._is_punctual = server, settings, is_punctual
        self._may_be_cut = may_be_cut
        self._last: deque[tuple[int, int]] = deque()
        """What left within the last second: when, and its bytes."""
        self._second = self._bytes = self._datagrams = self._largest = 0
        self._pushed: set[tuple[Address, int, int, int]] = set()

    def send(self, now: int, data: bytes, to: Address) -> None:
        size = len(data) + HEADERS
        self._bytes += size
        self._datagrams += 1
        self._largest = max(self._largest, size)
        rate = self._settings.uplink_bytes_per_s
        if not self._is_punctual:
            return
        if rate and self._settings.accounting == "datagram":
            self._last.append((now, size))
            self._second += size
            while self._last[0][0] <= now - SECOND:
                self._second -= self._last.popleft()[1]
            assert self._second <= rate + self._largest, f"{self._second} bytes within a second, not {rate}"
            self._check_push(data, to, now - size * SECOND // rate)
        elif not rate:
            self._check_push(data, to, now)

    def _check_push(self, data: bytes, to: Address, began: int) -> None:
        """A push that has not left before is sent to a client that is reachable when its turn comes."""
        message = parse(data)
        if isinstance(message, Push) and not self._may_be_cut:
            transfer = to, message.propagation, message.chain, message.attempt
            if transfer not in self._pushed:
                self._pushed.add(transfer)
                there = [one for one in self._server.clients if one.address == to]
                is_lost = there and all(one.lost_at is not None and one.lost_at < began for one in there)
                assert not is_lost, f"a push left for {to}, where no reachable client is"

    def check(self) -> None:
        assert self._server.uplink.datagrams_sent == self._datagrams
        if self._settings.accounting == "datagram":
            assert self._server.uplink.bytes_sent == self._bytes, "bytes counted are not bytes sent"


class Strangers:
    """Addresses that have returned no token get at most three times the bytes that they sent."""

    def __init__(self) -> None:
        self._balance: Counter[Address] = Counter()

    def receive(self, data: bytes, source: Address) -> None:
        self._balance[source] += 3 * (len(data) + HEADERS)

    def send(self, data: bytes, to: Address) -> None:
        self._balance[to] -= len(data) + HEADERS
        assert self._balance[to] >= 0, f"{to} got more than three times its bytes"


def forwarding_bytes(data: bytes) -> int:
    """Of a push or its ACK, with headers; else 0."""
    try:
        return len(data) + HEADERS if isinstance(parse(data), Push | Ack) else 0
    except WireError:
        return 0
