"""Clients with a socket each: they register, send contexts, and acknowledge pushes when they are asked to."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

from overlay.core.addresses import format_address
from overlay.core.errors import WireError
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import GZIP, deflate
from telemetry.calibration.live import Standing
from telemetry.errors import TelemetryError

PATIENCE_S = 5.0
_KINDS = ("bump", "pothole", "brake", "swerve")
FILLING = {
    "hazards": len(_KINDS),
    "events": [
        {"type": kind, "latitude": 38.701_837 + number * 0.003_971, "longitude": -9.198_203 + number * 0.007_459}
        for number, kind in enumerate(_KINDS)
    ],
}
"""Attributes of a message of usual length. Its numbers differ, as those of the workload: equal ones cost less to
compress."""
Answer = TypeVar("Answer")


class Prober:
    """Clients of one server, by number. Raises ``TelemetryError`` where an answer does not come."""

    def __init__(self, server: Standing) -> None:
        self.server = server
        self._socks: dict[int, socket.socket] = {}
        self._requests = count(1)

    def close(self) -> None:
        for sock in self._socks.values():
            sock.close()

    def register(self, number: int, attributes: Mapping[str, Any] | None = None, *, is_p2p: bool = False) -> None:
        """With the token that the server demands."""
        sock = self._socks[number] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(PATIENCE_S)
        token, id = 0, f"probe-{number}"
        for _ in range(2):
            request = m.Register(next(self._requests), number, token, int(is_p2p), id, dict(attributes or {}))
            token = self._exchange(number, request, m.Registered).token
        if token:
            raise TelemetryError(f"The server {format_address(self.server.address)} did not register a client.")

    def alive(self, number: int = 1) -> None:
        """A datagram of an unknown instance, which is answered at once."""
        self._exchange(number, m.Alive(0), m.RegisterAgain)

    def alive_together(self, times: int) -> None:
        """So many of them, which the server reads together."""
        with self.server.halted():
            for _ in range(times):
                self._send(1, m.Alive(0))
        for _ in range(times):
            self._receive(1, m.RegisterAgain)

    def call(self, number: int) -> None:
        """A context of client ``number``, accepted."""
        req = next(self._requests)
        context = Context((f"probe-{number}",), req, req, FILLING)
        self._exchange(number, m.Context(req, number, 0, GZIP, deflate(context.encode(), GZIP)), m.Accepted)

    def pushes(self, numbers: range) -> dict[int, m.Push]:
        """The next push of each of these clients."""
        return {number: self._receive(number, m.Push) for number in numbers}

    def acknowledge(self, number: int, push: m.Push) -> None:
        """And wait until the server has read it."""
        ack = m.Ack(push.epoch, push.propagation, push.chain, push.attempt, push.segments, bytes(m.WINDOW // 8))
        self._send(number, ack)
        self.alive(number)

    def _exchange(self, number: int, request: m.Message, answer: type[Answer]) -> Answer:
        self._send(number, request)
        return self._receive(number, answer)

    def _send(self, number: int, message: m.Message) -> None:
        self._socks[number].sendto(encode(message), self.server.address)

    def _receive(self, number: int, kind: type[Answer]) -> Answer:
        """The next message of this kind; others are skipped."""
        while True:
            try:
                found = parse(self._socks[number].recv(65_535))
            except (TimeoutError, WireError) as error:
                place = format_address(self.server.address)
                raise TelemetryError(f"The server {place} did not send {kind.__name__}: {error}.") from None
            if isinstance(found, kind):
                return found


@contextmanager
def probing(server: Standing) -> Iterator[Prober]:
    prober = Prober(server)
    try:
        yield prober
    finally:
        prober.close()
