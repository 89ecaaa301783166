"""One session with one peer: its state and its timers. ``packing`` sends its records, ``arrivals`` reads datagrams.

::

            ┌─ HELLO by the timer ─┐
   open ─> OPENING ── WELCOME ──> UP ── close ──> CLOSING ── all acknowledged, or 1 s ──> LEAVING ── BYE, 3 tries ─> end
                                  ^                                                      (sends BYE)
   HELLO ─> half open ─ datagram ─┘

With ``keep``, an unreachable peer makes OPENING and UP *quiet*: a PROBE (HELLO) every 2 s until it is heard.
"""

from __future__ import annotations

from overlay.channel import wire
from overlay.channel.asking import CLOSING, ENDED, LEAVING, OPENING, SILENT, UP, Asking
from overlay.channel.events import Back, Quiet, Reason
from overlay.channel.settings import CLOSE_AFTER, QUIET_PROBE
from overlay.channel.station import Station
from overlay.core.addresses import Address
from overlay.core.node import NEVER


class Session(Asking):
    __slots__ = ("close_at", "is_redrawn", "keep", "rto_at", "told", "tries")

    def __init__(self, station: Station, peer: bytes, address: Address, ours: int, *, keep: bool = False) -> None:
        super().__init__(station, peer, address, ours)
        self.keep = keep
        self.told = 0
        """While opening: the only incarnation of the peer that was told ours by WELCOME; 0 if there is none."""
        self.is_redrawn = False
        """Whether ours was replaced, and is told to none."""
        self.rto_at = self.close_at = NEVER
        self.tries = 0
        """Sendings of one record since the peer was heard."""

    # ---- changes of state

    def rise(self, theirs: int, address: Address, room: int) -> None:
        """The session is up. It is in the tables already, but for the peer's incarnation."""
        now = self.station.now
        self.theirs, self.address, self.first_room = theirs, address, room
        self.station.by_theirs[theirs] = self
        self.state = CLOSING if self.is_closing else UP
        self.heard_at, self.asked_at, self.probe_at = now, NEVER, NEVER
        self.probe_tries = self.why = 0
        if self.sender is not None:
            self.sender.set_room(room)
        self.watch()
        self.make_ready()

    def close(self) -> None:
        if not self.is_closing:
            self.is_closing = True
            self.close_at = self.station.now + CLOSE_AFTER
            self.set_timer(self.close_at)
            if self.state == UP:
                self.state = CLOSING
                if self.is_quiet:
                    self._wake()
                self.leave_if_done()

    def leave_if_done(self) -> None:
        """While closing: BYE once all is acknowledged."""
        if self.state == CLOSING and (self.sender is None or not self.sender.outbox.messages):
            self._leave()

    def end(self) -> list[bytes]:
        """The messages that are not acknowledged. ``Station.end`` calls it."""
        self.state = ENDED
        return [] if self.sender is None else self.sender.outbox.undelivered(self.sender.records)

    def finish(self) -> None:
        self.station.end(self, Reason.CLOSED)

    def break_off(self, reason: Reason) -> None:
        """End it, and tell the peer if it was up."""
        if self.state != OPENING:
            self.station.send(wire.reset(self.ours), self.address)
        self.station.end(self, reason)

    def _leave(self) -> None:
        self.state = LEAVING
        self.rto_at = self.close_at = NEVER
        self.why = self.probe_tries = 0
        self._probe_wait = self._rto()
        self._ask()

    def give_up(self) -> None:
        if not self.keep:
            self.break_off(Reason.UNREACHABLE)
            return
        self.is_quiet = True
        self.rto_at = self.ack_at = self.asked_at = NEVER
        self.ack_due = False
        self.probe_at = self.station.now + QUIET_PROBE
        self.set_timer(self.probe_at)
        self._nonce = self._nonce or self.station.draw()
        self.station.events.append(Quiet(self.peer))

    def come_back(self) -> None:
        """A quiet peer was heard."""
        self._wake()
        self.station.events.append(Back(self.peer))

    def _wake(self) -> None:
        self.is_quiet = False
        self.probe_at, self.why = NEVER, 0
        sender = self.sender
        if sender is not None and sender.records and sender.room:
            sender.time_out(self.station.now)
            sender.trip.wait = sender.trip.rto
        if self.paths is not None:
            self.paths.ring(self.station.now)
        self.set_timer(self.earliest())
        self.make_ready()

    def resume(self) -> None:
        """End a pause."""
        receiver, messages = self.receiver, list[bytes]()
        assert receiver is not None
        receiver.is_paused = False
        receiver.release(messages)
        self.deliver(messages)
        if receiver.is_broken:
            self.break_off(Reason.BROKEN)
        else:
            self.ack_due = True
            self.make_ready()

    # ---- timers

    def earliest(self) -> int:
        due = self.rto_at if self.rto_at < self.ack_at else self.ack_at
        if self.probe_at < due:
            due = self.probe_at
        limits = self.station.limits
        if self.state == UP and not self.is_closing and not self.is_quiet and self.paths is None:  # the usual case
            asked = self.asked_at + limits.give_up
            if asked < due:
                due = asked
            if not self.why:
                silent = self.heard_at + limits.probe
                if silent < due:
                    due = silent
            return due
        return self._earliest_of_all(due)

    def _earliest_of_all(self, due: int) -> int:
        limits = self.station.limits
        due = min(due, self.close_at)
        if not self.is_quiet:
            if self.state <= UP and not self.is_closing:
                due = min(due, self.asked_at + limits.give_up)
            if self.state == UP and not self.why:
                due = min(due, self.heard_at + limits.probe)
            if self.paths is not None:
                due = min(due, self.paths.earliest())
        return due if due < NEVER and self.state != ENDED else NEVER

    def ring(self, now: int) -> None:
        self.station.now = now
        if self.close_at <= now:
            self._leave() if self.theirs else self.finish()
        elif self._is_given_up_at(now):
            self.give_up()
        if self.rto_at <= now and self.state != ENDED:
            self._time_out()
        if self.probe_at <= now and self.state != ENDED:
            self._ask()
        if self.state == ENDED:
            return
        if self.ack_at <= now:
            self.ack_at, self.ack_due = NEVER, True
            self.make_ready()
        if not self.is_quiet:
            if self.state == UP and not self.why and self.heard_at + self.station.limits.probe <= now:
                self.probe(SILENT)
            if self.paths is not None:
                self.paths.ring(now)

    def _is_given_up_at(self, now: int) -> bool:
        """A quiet one is if it is no longer to stay, instead of being asked again."""
        if self.is_quiet and not self.is_closing:
            return not self.keep and self.probe_at <= now
        return self.may_give_up and self.asked_at + self.station.limits.give_up <= now

    def _time_out(self) -> None:
        sender, most = self.sender, self.station.limits.tries
        assert sender is not None
        if not self.tries:
            self.tries = int(sender.was_sent_since(self.heard_at))
        if most and self.tries >= most and self.may_give_up:
            self.give_up()
            return
        self.tries += 1
        sender.time_out(self.station.now)
        self.rto_at = self.station.now + sender.trip.wait
        self.make_ready()

    def check_invariants(self) -> None:
        assert (self.theirs != 0) == (self.state != OPENING)
        assert self.sender is not None or self.rto_at == NEVER
        assert self.state != CLOSING or self.close_at != NEVER
        assert not self.is_quiet or self.probe_at != NEVER
        for side in (self.sender, self.receiver):
            if side is not None:
                side.check_invariants()
        sender, is_sending = self.sender, self.state in (UP, CLOSING) and not self.is_quiet and not self.is_ready
        if sender is not None and sender.records and sender.room and is_sending:
            assert self.rto_at != NEVER, "what is under way is sent again"
