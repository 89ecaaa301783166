"""One question after another to one server over UDP, repeated until there is an answer or the time is over."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from overlay.core.addresses import Address, format_address
from overlay.core.errors import WaxwingError
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES

FIRST_WAIT_S = 0.2
"""Until a question is repeated; doubled each time."""

A = TypeVar("A")


class NoAnswer(WaxwingError):
    """The server did not answer in time."""


class Questions:
    """A socket that is connected to ``server``. ``what`` is the server that should be there: a server of Radiator."""

    def __init__(self, server: Address, what: str) -> None:
        self.name, self._what = format_address(server), what
        self._sock = socket.socket(socket.AF_INET6 if ":" in server[0] else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._sock.connect(server)
        except OSError as error:
            self._sock.close()
            raise NoAnswer(f"{self.name} cannot be reached: {error.strerror}.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._sock.close()

    def ask(self, data: bytes, read: Callable[[bytes], A | None], deadline_s: float) -> A:
        """What ``read`` makes of the answer; ``None`` is another datagram. Raises ``NoAnswer`` and what ``read``
        raises."""
        ends, wait_s = time.monotonic() + deadline_s, FIRST_WAIT_S
        while (left_s := ends - time.monotonic()) > 0:
            try:
                self._sock.send(data)
                found = self._answer(read, min(ends, time.monotonic() + min(wait_s, left_s)))
            except ConnectionRefusedError:
                raise NoAnswer(f"No server listens at {self.name}.") from None
            except OSError as error:
                raise NoAnswer(f"{self.name} cannot be reached: {error.strerror}.") from None
            if found is not None:
                return found
            wait_s *= 2
        raise NoAnswer(f"{self.name} did not answer in {deadline_s:g} s. Is it {self._what}?")

    def _answer(self, read: Callable[[bytes], A | None], until: float) -> A | None:
        while (left_s := until - time.monotonic()) > 0:
            self._sock.settimeout(left_s)
            try:
                data = self._sock.recv(MAX_DATAGRAM_BYTES)
            except TimeoutError:
                return None
            if (found := read(data)) is not None:
                return found
        return None
