"""One non-blocking connection to an engine, whatever its protocol."""

from __future__ import annotations

import errno
import os
import socket
from abc import ABC, abstractmethod

from overlay.core.errors import WaxwingError

READ_BYTES = 1 << 18


class LostConnection(WaxwingError):
    """The engine is away, or refused a request that it must not refuse. The message says why."""


class NotAdmitted(LostConnection):
    """The engine does not accept who asks."""


class Wire(ABC):
    """Begins to connect when made. What is to be sent is added to ``out``."""

    def __init__(self, host: str, port: int) -> None:
        """Raises ``LostConnection``."""
        self.out = bytearray()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._sock = socket.socket(family, socket.SOCK_STREAM)
        self._sock.setblocking(False)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            code = self._sock.connect_ex((host, port))
        except OSError as error:  # the name is unknown
            self._sock.close()
            raise LostConnection(error.strerror or str(error)) from None
        if code not in (0, errno.EINPROGRESS):
            self._sock.close()
            raise LostConnection(os.strerror(code))
        self._is_open = False

    @property
    def descriptor(self) -> int:
        return self._sock.fileno()

    @property
    def wants_to_write(self) -> bool:
        """Whether to call ``write`` when its socket becomes writable."""
        return bool(self.out) or not self._is_open

    @property
    @abstractmethod
    def under_way(self) -> int:
        """Requests without an answer."""

    def write(self) -> None:
        """Send what is queued, as far as possible. Raises ``LostConnection``."""
        try:
            while self.out:
                sent = self._sock.send(self.out)
                self._is_open = True
                del self.out[:sent]
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            if error.errno == errno.ENOTCONN:  # still connecting
                return
            raise LostConnection(error.strerror or "it is away") from None

    def read(self) -> None:
        """Pass on all that is there. Raises ``LostConnection``."""
        while True:
            try:
                data = self._sock.recv(READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno == errno.ENOTCONN:
                    return
                raise LostConnection(error.strerror or "it is away") from None
            if not data:
                raise LostConnection("it closed the connection")
            self.received(data)
            if len(data) < READ_BYTES:
                return

    @abstractmethod
    def received(self, data: bytes) -> None:
        """Raises ``LostConnection``."""

    def close(self) -> None:
        self._sock.close()
