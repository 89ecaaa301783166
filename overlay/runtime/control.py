"""The supervisor's interface: newline-delimited JSON over a Unix socket, one reply per request.

Counterpart: ``overlay.runtime.supervisor_client``. Everything has limits, and clients cannot block the supervisor: a
client that sends half a line, or does not read its reply, occupies a buffer until its time-out.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overlay.core.errors import InvalidSetting, WaxwingError, describe_os_error
from overlay.core.node import SECOND

MAX_LINE_BYTES = 4_000_000
"""A deployment with 20,000 links takes half of this."""
MAX_CLIENTS = 64
PATIENCE = 10 * SECOND
"""A connection without activity for this long is closed."""
READ_BYTES = 65_536

Request = dict[str, Any]
Reply = dict[str, Any]


ENDING = "ending"
"""The code with which a supervisor that is shutting down refuses everything."""


class Refusal(WaxwingError):
    """A request answered with an error; ``code`` is for programs, the text for people."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(slots=True)
class _Client:
    connection: socket.socket
    moved: int
    received: bytearray = field(default_factory=bytearray)
    to_send: bytes = b""
    is_last: bool = False
    """Whether further input is discarded. Closing a connection with unread input would destroy the reply."""


class Control:
    """Accepts connections on ``path`` and answers each line with the result of ``handle``."""

    def __init__(
        self, path: Path, selector: selectors.BaseSelector, clock: Callable[[], int], handle: Callable[[Request], Reply]
    ) -> None:
        self._path = path
        self._selector = selector
        self._clock = clock
        self._handle = handle
        self._clients: dict[int, _Client] = {}
        self._listener = _listen(path)
        selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def close(self) -> None:
        """Close all connections and remove the socket."""
        for client in list(self._clients.values()):
            self._hang_up(client)
        self._selector.unregister(self._listener)
        self._listener.close()
        self._path.unlink(missing_ok=True)

    @property
    def is_quiet(self) -> bool:
        """Whether every reply has been sent."""
        return not any(client.to_send for client in self._clients.values())

    def expire(self, now: int) -> int | None:
        """Close connections that timed out. Returns when to check again."""
        for client in list(self._clients.values()):
            if now >= client.moved + PATIENCE:
                self._hang_up(client)
        return min((client.moved + PATIENCE for client in self._clients.values()), default=None)

    def _accept(self, _: int) -> None:
        try:
            connection, _address = self._listener.accept()
        except OSError:  # the client hung up, or no descriptors are left: the next turn tries again
            return
        connection.setblocking(False)
        client = _Client(connection, self._clock())
        self._clients[connection.fileno()] = client
        self._selector.register(connection, selectors.EVENT_READ, lambda mask: self._serve(client, mask))
        if len(self._clients) > MAX_CLIENTS:
            self._hang_up(min(self._clients.values(), key=lambda other: other.moved))

    def _serve(self, client: _Client, mask: int) -> None:
        try:
            if mask & selectors.EVENT_WRITE:
                self._send(client)
            elif mask & selectors.EVENT_READ:
                self._receive(client)
        except BlockingIOError:
            return
        except OSError:
            self._hang_up(client)

    def _receive(self, client: _Client) -> None:
        data = client.connection.recv(READ_BYTES)
        if not data:
            self._hang_up(client)
            return
        if client.is_last:
            return
        client.moved = self._clock()
        client.received += data
        self._answer(client)

    def _answer(self, client: _Client) -> None:
        """Answer the first complete line, if there is one. The next line waits until the reply has been sent."""
        line, newline, rest = client.received.partition(b"\n")
        if newline:
            client.received = rest
            reply = self._reply(bytes(line))
        elif len(client.received) > MAX_LINE_BYTES:
            client.is_last = True
            reply = _error("too-long", f"a request is one line of at most {MAX_LINE_BYTES} bytes")
        else:
            return
        client.to_send = json.dumps(reply, separators=(",", ":")).encode() + b"\n"
        with suppress(BlockingIOError):
            self._send(client)

    def _reply(self, line: bytes) -> Reply:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            return _error("bad-request", "a request is one line of JSON")
        if not isinstance(request, dict):
            return _error("bad-request", "a request is a JSON object")
        try:
            return self._handle(request)
        except Refusal as refusal:
            return _error(refusal.code, str(refusal))
        except InvalidSetting as error:
            return _error("invalid", str(error))
        except OSError as error:
            return _error("failed", f"failed on this host: {describe_os_error(error)}")

    def _send(self, client: _Client) -> None:
        if client.to_send:
            sent = client.connection.send(client.to_send)
            client.to_send = client.to_send[sent:]
            client.moved = self._clock()
        if client.to_send:
            self._watch(client, selectors.EVENT_WRITE)
            return
        self._watch(client, selectors.EVENT_READ)
        if client.is_last:
            client.connection.shutdown(socket.SHUT_WR)
            client.received.clear()
        elif b"\n" in client.received:
            self._answer(client)

    def _watch(self, client: _Client, events: int) -> None:
        key = self._selector.get_key(client.connection)
        if key.events != events:
            self._selector.modify(client.connection, events, key.data)

    def _hang_up(self, client: _Client) -> None:
        if self._clients.pop(client.connection.fileno(), None) is not None:
            self._selector.unregister(client.connection)
            client.connection.close()


def _error(code: str, sentence: str) -> Reply:
    return {"error": {"code": code, "sentence": sentence}}


def lock_path(path: Path) -> Path:
    """The lock file of the supervisor listening on ``path``, locked during its lifetime."""
    return path.with_name(f"{path.name}.lock")


def reachable(path: Path) -> str:
    """The shorter form of a socket's path, because systems allow only about 104 bytes."""
    return min(str(path), os.path.relpath(path), key=len)


def _listen(path: Path) -> socket.socket:
    """The caller holds the lock, so an existing file at ``path`` is left over from a dead process."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # mode 0600 from the start
    try:
        listener.bind(reachable(path))
    except OSError as error:
        raise WaxwingError(f"cannot listen on {path}: {error}") from error
    finally:
        os.umask(before)
    listener.listen(16)
    listener.setblocking(False)
    return listener
