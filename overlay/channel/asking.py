"""What an end of a session asks the other one, repeated by the timer: HELLO, PROBE and BYE.

They have a back-off of their own: the first time-out, then twice as long each time, up to 1 s. A quiet session asks
every 2 s.
"""

from __future__ import annotations

from typing import Final

from overlay.channel import wire
from overlay.channel.endpoint import Endpoint
from overlay.channel.events import Moved
from overlay.channel.paths import Paths
from overlay.channel.round_trip import FIRST, MOST
from overlay.channel.settings import MOST_BYES, QUIET_PROBE
from overlay.channel.station import Station
from overlay.core.addresses import Address
from overlay.core.node import NEVER

OPENING: Final = 0
UP: Final = 1
CLOSING: Final = 2
LEAVING: Final = 3
ENDED: Final = 4
CONFIRM: Final = 1
SILENT: Final = 2
ROOM: Final = 4
MOVED: Final = 8
"""Why PROBEs are sent: the peer may not know that the session is up; silence; no room there; a new own address."""


class Asking(Endpoint):
    __slots__ = (
        *("_nonce", "_probe_wait", "asked_at", "heard_at", "is_closing", "is_quiet", "paths", "probe_at"),
        *("probe_tries", "state", "why"),
    )

    def __init__(self, station: Station, peer: bytes, address: Address, ours: int) -> None:
        super().__init__(station, peer, address, ours)
        self.state = OPENING
        self.is_quiet = False
        """Whether the peer is unreachable and the session stays."""
        self.is_closing = False
        self.paths: Paths | None = None
        self.probe_at = NEVER
        """When HELLO, PROBE or BYE goes again."""
        self.asked_at = NEVER
        """Of the first sending that needs an answer since the peer was heard."""
        self.heard_at = 0
        """Of the last authentic datagram."""
        self.probe_tries = 0
        """Sendings of HELLO, PROBE or BYE since then."""
        self._probe_wait = FIRST
        self._nonce = 0
        self.why = 0
        """Why PROBEs are sent, bits of the constants above; 0 if none are."""

    def begin(self) -> None:
        """Say HELLO."""
        self.probe_tries = 0
        self._probe_wait = FIRST
        self._ask()

    def confirm(self) -> None:
        """After WELCOME: let the peer know that the session is up."""
        if self.state != LEAVING:
            self.probe(CONFIRM)

    def probe(self, why: int) -> None:
        """Send PROBEs by the timer, the first at once but for the peer's room."""
        is_first = not self.why
        self.why |= why
        if is_first:
            self._nonce = self.station.draw()
            self._probe_wait = self._rto()
            self.probe_at = NEVER
        if why != ROOM or self.is_quiet:
            self._ask()
        elif is_first:
            self.probe_at = self.station.now + self._probe_wait
            self._probe_wait = min(2 * self._probe_wait, MOST)
            self.set_timer(self.probe_at)

    def note_probed(self, nonce: int) -> None:
        """The peer has answered from its address."""
        if nonce == self._nonce:
            self.stop_probing(MOVED)

    def stop_probing(self, why: int) -> None:
        if self.why & why and not self.is_quiet:
            self.why &= ~why
            if not self.why:
                self.probe_at = NEVER
                self.watch()

    def _ask(self) -> None:
        """Send what the timer repeats, unless it was sent often enough."""
        now, most = self.station.now, self.station.limits.tries
        if self.state == LEAVING and self.probe_tries >= MOST_BYES:
            self.finish()
            return
        if most and self.probe_tries >= most and self.may_give_up:
            self.give_up()
            return
        self.probe_tries += 1
        self._send_question()
        if self.is_quiet:
            if self.paths is not None:
                self.paths.ring(NEVER)
            self.probe_at = now + QUIET_PROBE
        else:
            self.asked_at = min(self.asked_at, now)
            self.set_timer(self.asked_at + self.station.limits.give_up)
            self.probe_at = now + self._probe_wait
            self._probe_wait = min(2 * self._probe_wait, MOST)
        self.set_timer(self.probe_at)

    def _send_question(self) -> None:
        if self.state == OPENING:
            station = self.station
            station.send(wire.hello(self.ours, station.id, self.own_room), self.address)
        elif self.state == LEAVING:
            self.send(wire.BYE)
        else:
            self.send(wire.PROBE, wire.number(self._nonce))

    def _rto(self) -> int:
        return FIRST if self.sender is None else self.sender.trip.rto

    def candidates(self) -> Paths:
        """The addresses to which it may move."""
        if self.paths is None:
            self.paths = Paths(self)
        return self.paths

    def prove_path(self, address: Address, nonce: int) -> None:
        """A PROBED came from there: it is the peer's address if it is the answer to our PROBE."""
        if self.paths is not None and self.paths.prove(address, nonce):
            self.address = address
            if not self.paths:
                self.paths = None
            self.station.events.append(Moved(self.peer, address))

    @property
    def may_give_up(self) -> bool:
        """A session that is being closed has a bound of its own."""
        return self.state <= UP and not self.is_closing and not self.is_quiet

    def watch(self) -> None:
        """Silence from now on leads to a PROBE."""
        self.set_timer(self.heard_at + self.station.limits.probe)

    def give_up(self) -> None:
        """The peer is unreachable."""
        raise NotImplementedError

    def finish(self) -> None:
        """It is closed."""
        raise NotImplementedError
