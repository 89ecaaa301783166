"""A client of a Radiator network for programs: the five functions of the paper over a socket of its own.

Counterpart: ``overlay.systems.radiator.middleware`` has the protocol; this module adds a socket, a clock and a thread::

    with RadiatorClient(("127.0.0.1", 7000), "alice", print) as client:
        client.propagate(["alice"], {"location": "Joe's Pub"})
"""

from __future__ import annotations

import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from overlay.core.addresses import Address, format_address
from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.programs.questions import NoAnswer as NoAnswer
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.context import Context, check_context
from overlay.systems.radiator.middleware.calls import Result
from overlay.systems.radiator.middleware.middleware import Middleware, RegistrationEnded
from overlay.systems.radiator.wire.messages import Registration

OnContext = Callable[[Context], object]
REFUSALS = {
    Registration.COLLISION: "another client at this address has this id",
    Registration.FULL: "its table is full",
    Registration.MALFORMED: "the registration is malformed",
}


class Refused(WaxwingError):
    """The server refused a registration or a context."""


class RadiatorClient:
    """One client, registered while a ``with`` block lasts; methods may be called from any thread.

    ``on_context`` gets every context that arrives, in a thread of the client.
    """

    def __init__(
        self,
        server: Address,
        id: str,
        on_context: OnContext = lambda context: None,
        attributes: Mapping[str, Any] | None = None,
        *,
        is_p2p: bool = False,
        deadline_s: float = 10.0,
    ) -> None:
        """With ``is_p2p`` other clients push to it, so they must reach its port. ``deadline_s`` is for each call."""
        self._server, self._id, self._on_context, self._deadline_s = server, id, on_context, deadline_s
        self._attributes, self._is_p2p = attributes, is_p2p
        self._middleware = Middleware(Transport(), secrets.randbits(64))
        self._middleware.setup(server)
        self._arrived: list[Context] = []
        self._registration: RegistrationEnded | None = None
        self._changed = threading.Condition()
        self._is_over = False
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.bind(("", 0))
        self._sock.setblocking(False)
        self._woken, self._wake = socket.socketpair()
        self._woken.setblocking(False)
        self._wake.setblocking(False)
        self._thread = threading.Thread(target=self._drive, name=f"radiator-{id}", daemon=True)

    def __enter__(self) -> Self:
        """Register. Raises ``NoAnswer``, ``Refused``; ``Misuse`` for an invalid id or invalid attributes."""
        try:
            now = time.monotonic_ns()
            self._middleware.register_client(self._id, self._keep, self._attributes, is_p2p=self._is_p2p, now=now)
            self._thread.start()
            self._await(lambda: self._registration is not None, "a registration")
            assert self._registration is not None
            if self._registration.code != Registration.OK:
                self._refuse(self._registration.code)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Unregister, and wait until the server has answered or does not."""
        with self._changed:
            if not self._middleware.is_closed and self._registration is not None:
                self._middleware.unregister_client(self._id, time.monotonic_ns())
        try:
            self._await(lambda: self._middleware.is_closed, "an end of the registration")
        except NoAnswer:
            return  # the server forgets a silent client
        finally:
            self._stop()

    def propagate(
        self,
        people: Sequence[str],
        attributes: Mapping[str, Any],
        start_ms: int | None = None,
        end_ms: int | None = None,
    ) -> None:
        """Send a context, by default of now. Returns when the server has accepted it.

        Raises ``MalformedContext`` before anything is sent, ``NoAnswer`` and ``Refused``.
        """
        start = time.time_ns() // 1_000_000 if start_ms is None else start_ms
        span = [start, start if end_ms is None else end_ms]
        context = check_context({"a": dict(attributes), "n": 1, "p": list(people), "t": span})
        result = self.call(context)
        if result is not Result.ACCEPTED:
            raise Refused(f"The context was not accepted: {result}.")

    def call(self, context: Context) -> Result:
        """Send a context that was checked. Raises ``NoAnswer``."""
        with self._changed:
            call = self._middleware.propagate_context(context.encode(), time.time_ns(), time.monotonic_ns())
        self._await(lambda: call.result is not Result.OPEN, "a context")
        if call.result is Result.NO_ANSWER:
            raise NoAnswer(f"{format_address(self._server)} did not answer a context.")
        return call.result

    # ---- in the thread of the client

    def _drive(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._sock, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self._is_over:
                selector.select(self._step())
                self._empty_wakes()

    def _step(self) -> float | None:
        """Returns after how many seconds the next step is due."""
        with self._changed:
            now = time.monotonic_ns()
            if datagrams := self._receive():
                self._middleware.receive_datagrams(datagrams, now)
            timer = self._middleware.next_timer()
            if timer is not None and timer <= now:
                self._middleware.handle_timer(now)
            for event in self._middleware.events():
                if isinstance(event, RegistrationEnded):
                    self._registration = event
            self._send()
            arrived, self._arrived = self._arrived, []
            timer = self._middleware.next_timer()
            self._changed.notify_all()
        for context in arrived:
            self._on_context(context)
        return None if timer is None else max(0.0, (timer - time.monotonic_ns()) / SECOND)

    def _receive(self) -> list[tuple[bytes, Address]]:
        found: list[tuple[bytes, Address]] = []
        while True:
            try:
                found.append(self._sock.recvfrom(MAX_DATAGRAM_BYTES))
            except BlockingIOError:
                return found
            except OSError:  # an earlier datagram was refused by its destination
                continue

    def _send(self) -> None:
        for data, to in self._middleware.datagrams_to_send():
            try:
                self._sock.sendto(data, to)
            except OSError:
                continue  # it counts as lost, and is repeated

    def _empty_wakes(self) -> None:
        with suppress(BlockingIOError):
            self._woken.recv(1_024)

    def _keep(self, context: Any, _: object) -> None:
        self._arrived.append(context)

    # ---- in any thread

    def _await(self, is_it: Callable[[], bool], what: str) -> None:
        """Raises ``NoAnswer``."""
        self._nudge()
        with self._changed:
            if not self._changed.wait_for(is_it, self._deadline_s):
                raise NoAnswer(f"{format_address(self._server)} did not answer {what} in {self._deadline_s:g} s.")

    def _nudge(self) -> None:
        """Let the thread take a step."""
        with suppress(OSError):  # it has stopped, or has a nudge to read
            self._wake.send(b"!")

    def _refuse(self, code: int) -> None:
        place = format_address(self._server)
        if code < 0:
            raise NoAnswer(f"{place} did not answer a registration.")
        raise Refused(f"{place} refused {self._id!r:.60}: {REFUSALS.get(Registration(code), 'for an unknown reason')}.")

    def _stop(self) -> None:
        self._is_over = True
        self._nudge()
        if self._thread.is_alive():
            self._thread.join()
        for sock in (self._sock, self._woken, self._wake):
            sock.close()
