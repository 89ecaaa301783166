"""Registration of one client: with a token, repeated, renewed, and given up.

::

    idle ── register ──> registering ── REGISTERED 0 ──> registered ── unregister ──> leaving ── UNREGISTERED ──> gone
                          ^   │ refused, or no answer          │ REGISTER_AGAIN, silence
                          │   └──> outside ── alive_s ──┐      │
                          └──────────<─────────<────────┴──────┘
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from overlay.systems.radiator.config import Transport, ns
from overlay.systems.radiator.wire import messages as m


class State(StrEnum):
    IDLE = "idle"
    REGISTERING = "registering"
    REGISTERED = "registered"
    OUTSIDE = "outside"
    """The server did not answer; it is asked again after ``alive_s``."""
    REFUSED = "refused"
    """By the server; the application decides."""
    LEAVING = "leaving"
    GONE = "gone"


class Membership:
    """``send`` sends a message to the server; ``next_req`` gives the numbers of requests."""

    def __init__(
        self, config: Transport, instance: int, send: Callable[[Any, int], None], next_req: Callable[[], int]
    ) -> None:
        self._config, self._instance, self._send, self._next_req = config, instance, send, next_req
        self._request: m.Register | m.Unregister | None = None
        """The one that is not answered."""
        self._tries = 0
        self._repeats_at: int | None = None
        self._attributes: dict[str, Any] = {}
        self._id, self._flags, self._token = "", 0, 0
        self.state = State.IDLE
        self.epoch = 0
        self.code: m.Registration | None = None
        """Of a refusal."""

    @property
    def id(self) -> str:
        return self._id

    def register(self, id: str, attributes: Mapping[str, Any], now: int, *, flags: int) -> None:
        self._id, self._attributes, self._flags = id, dict(attributes), flags
        self.renew(now)

    def renew(self, now: int) -> None:
        """Ask for registration, unless that is under way or the client leaves."""
        if self.state in (State.REGISTERING, State.LEAVING, State.GONE):
            return
        self.state = State.REGISTERING
        request = m.Register(self._next_req(), self._instance, self._token, self._flags, self._id, self._attributes)
        self._begin(request, now)

    def unregister(self, now: int) -> None:
        if self.state in (State.IDLE, State.REFUSED):
            self.state = State.GONE
            self._repeats_at = None
        elif self.state not in (State.LEAVING, State.GONE):
            self.state = State.LEAVING
            self._begin(m.Unregister(self._next_req(), self._instance, self._id), now)

    def receive_registered(self, answer: m.Registered, now: int) -> bool:
        """Returns whether it ends the registration."""
        request = self._request
        if not isinstance(request, m.Register) or answer.req != request.req:
            return False
        if answer.code == m.Registration.TOKEN:
            if answer.token != request.token:
                self._token = answer.token
                self._begin(request._replace(token=answer.token), now)
            return False
        self._request, self._repeats_at = None, None
        if answer.code == m.Registration.OK:
            self.state, self.epoch, self.code = State.REGISTERED, answer.epoch, None
        else:
            self.state, self.code = State.REFUSED, m.Registration(answer.code)
        return True

    def receive_unregistered(self, answer: m.Unregistered) -> None:
        if isinstance(self._request, m.Unregister) and answer.req == self._request.req:
            self._leave()

    def handle_timer(self, now: int) -> bool:
        """Returns whether a registration has failed, because the server does not answer."""
        if self._repeats_at is None or self._repeats_at > now:
            return False
        if self.state is State.OUTSIDE:
            self.renew(now)
        elif self._tries < self._config.tries:
            self._emit(now)
        elif self.state is State.LEAVING:
            self._leave()
        else:
            self.state, self._request, self._token = State.OUTSIDE, None, 0
            self._repeats_at = now + ns(self._config.alive_s)
            return True
        return False

    def next_timer(self) -> int | None:
        return self._repeats_at

    def _leave(self) -> None:
        self.state, self._request, self._repeats_at = State.GONE, None, None

    def _begin(self, request: m.Register | m.Unregister, now: int) -> None:
        self._request, self._tries = request, 0
        self._emit(now)

    def _emit(self, now: int) -> None:
        self._tries += 1
        self._repeats_at = now + self._config.repeat_after(self._tries)
        self._send(self._request, now)
