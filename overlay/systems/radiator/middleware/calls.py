"""Calls of ``propagate_context``: each is one CONTEXT, repeated until it is answered or given up.

::

    waiting (for registration) ──> sent ── ACCEPTED ok ──> accepted
                  ^                 │ busy, over its share: again after retry_ms
                  │                 │ unknown client: waiting, if the epoch is the same
                  └─────────────────┴──> refused: malformed, too large, busy, over its share, no answer, restarted,
                                         unregistered
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from overlay.core.node import MILLISECOND
from overlay.core.timers import Timers
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.wire.messages import Acceptance, Accepted, Context


class Result(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    MALFORMED = "malformed"
    TOO_LARGE = "too large"
    BUSY = "busy"
    OVER_SHARE = "over its share"
    """Of what the server retains, this client's part is used up."""
    UNKNOWN = "unknown"
    """The server had restarted: it may have been accepted before."""
    NO_ANSWER = "no answer"
    UNREGISTERED = "unregistered"


@dataclass(slots=True, eq=False)
class Call:
    """One call. ``result`` changes once."""

    request: Context
    result: Result = Result.OPEN
    ended_at: int = 0
    tries: int = 0
    is_sent: bool = False
    epoch: int = 0
    """Of its first try."""
    retry_ms: int = 0
    """When the server was busy: how long to wait, in its words."""
    later: Result = Result.BUSY
    """Why it has to wait."""


_RESULTS = {
    Acceptance.OK: Result.ACCEPTED,
    Acceptance.MALFORMED: Result.MALFORMED,
    Acceptance.TOO_LARGE: Result.TOO_LARGE,
}
_LATER = {Acceptance.BUSY: Result.BUSY, Acceptance.OVER_SHARE: Result.OVER_SHARE}


class Calls:
    """The open calls of a client. ``is_patient``: busy calls are repeated without limit, as in a closed loop."""

    def __init__(self, config: Transport, send: Callable[[Context, int], None], *, is_patient: bool = False) -> None:
        self._config, self._send, self._is_patient = config, send, is_patient
        self._open: dict[int, Call] = {}
        self._timers = Timers()

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, request: Context, epoch: int | None, now: int) -> Call:
        """``epoch`` is that of the registration, ``None`` while there is none."""
        call = self._open[request.req] = Call(request)
        if epoch is not None:
            self._first(call, epoch, now)
        return call

    def resume(self, epoch: int, now: int) -> None:
        """The client has been registered. Calls that an earlier epoch may have accepted end."""
        for call in list(self._open.values()):
            if call.is_sent and call.epoch != epoch:
                self._end(call, Result.UNKNOWN, now)
            elif call.request.req not in self._timers:
                call.tries = 0
                self._first(call, epoch, now)

    def receive(self, answer: Accepted, now: int) -> bool:
        """Returns whether the server does not know the client."""
        call = self._open.get(answer.req)
        if call is None or not call.is_sent:
            return False
        if answer.code == Acceptance.UNKNOWN:
            self._timers.cancel(answer.req)
            return True
        later = _LATER.get(Acceptance(answer.code))
        if later is None:
            self._end(call, _RESULTS[Acceptance(answer.code)], now)
            return False
        call.retry_ms, call.later = max(1, answer.retry_ms), later
        if call.tries >= self._config.tries and not self._is_patient:
            self._end(call, later, now)
        else:
            self._timers.set(answer.req, now + call.retry_ms * MILLISECOND)
            call.tries = min(call.tries, self._config.tries - 1)
        return False

    def get(self, req: int) -> Call | None:
        """One that is open."""
        return self._open.get(req)

    def give_up(self, call: Call, now: int) -> None:
        if self._open.get(call.request.req) is call:
            self._end(call, call.later, now)

    def end_all(self, result: Result, now: int) -> None:
        for call in list(self._open.values()):
            self._end(call, result, now)

    def handle_timer(self, now: int) -> None:
        for req in self._timers.due(now):
            call = self._open[req]
            if call.tries < self._config.tries:
                self._emit(call, now)
            else:
                self._end(call, Result.NO_ANSWER, now)

    def next_timer(self) -> int | None:
        return self._timers.next_timer()

    def _first(self, call: Call, epoch: int, now: int) -> None:
        if not call.is_sent:
            call.is_sent, call.epoch = True, epoch
        self._emit(call, now)

    def _emit(self, call: Call, now: int) -> None:
        call.tries += 1
        self._timers.set(call.request.req, now + self._config.repeat_after(call.tries))
        self._send(call.request, now)

    def _end(self, call: Call, result: Result, now: int) -> None:
        call.result, call.ended_at = result, now
        del self._open[call.request.req]
        self._timers.cancel(call.request.req)

    def check_invariants(self) -> None:
        for req, call in self._open.items():
            assert call.request.req == req and call.result is Result.OPEN
            assert call.tries <= self._config.tries
            assert call.is_sent or req not in self._timers
