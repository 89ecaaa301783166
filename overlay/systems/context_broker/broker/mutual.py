"""Keeps links mutual if brokers choose their neighbours themselves (``neighbour_search``).

A restarted broker has forgotten us but answers our pings; an ACK to a join, or a leave, may be lost. We would then have
a neighbour that does not have us. For given links the controller repeats the join, but here it does not.
With monitoring, the neighbours are therefore asked for their own neighbours, one per ping interval, round robin::

    we ── 18 ──> neighbour
       <── 19 ──              we are listed: fine; not listed twice in a row: 8|…|* ─> it accepts us, or is dropped
       <── 7|*, 19 ──         the answer of a broker that has left
"""

from __future__ import annotations

from overlay.core.addresses import Address, format_address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.events import NeighbourRefused
from overlay.systems.context_broker.broker.joining import Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.neighbour_search import NeighbourSearch
from overlay.systems.context_broker.broker.pings import Monitor
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.messages import NeighborsRequest, NeighborsResponse


class Mutual:
    def __init__(
        self, station: Station, members: Members, joining: Joining, monitor: Monitor, search: NeighbourSearch
    ) -> None:
        self._station = station
        self._members = members
        self._joining = joining
        self._monitor = monitor
        self._search = search
        self._interval = station.config.ping_interval_ms * MILLISECOND
        self._next_question: int | None = None
        self._turn = 0
        self._asked: Address | None = None
        """The neighbour whose answer is awaited."""
        self._doubted: Address | None = None
        """A neighbour that did not list us and is asked again: its join or leave may be in transit."""

    def handle_question(self, source: Address, now: int) -> None:
        """A broker asks for our neighbours, and may regard us as one of its own."""
        if self._joining.has_left:
            self._joining.remind(source, now)

    def accept_neighbours(self, answer: NeighborsResponse, source: Address, now: int) -> bool:
        """``False`` if that broker was not asked."""
        if source != self._asked:
            return False
        self._asked = None
        is_doubted, self._doubted = self._doubted == source, None
        if source in self._members and self._station.address not in answer.neighbours:
            if is_doubted:
                self._join(source, now)
            else:
                self._doubted = source
        return True

    def handle_timer(self, now: int) -> None:
        timer = self.next_timer()
        if timer is None or timer > now:
            return
        if self._next_question is not None:
            self._ask(now)
        self._next_question = now + self._interval if self._is_due else None

    def next_timer(self) -> int | None:
        """In the past, that is at once, when there are neighbours again."""
        return 0 if self._next_question is None and self._is_due else self._next_question

    @property
    def _is_due(self) -> bool:
        return self._monitor.is_on and bool(self._members.neighbours)

    # ---- parts of the above

    def _ask(self, now: int) -> None:
        """Ask the one in doubt, or else the next."""
        neighbours = self._members.neighbours
        if self._doubted is not None and self._doubted in self._members:
            self._asked = self._doubted
        elif neighbours:
            self._turn = (self._turn + 1) % len(neighbours)
            self._asked = neighbours[self._turn]
        else:
            self._asked = None
            return
        self._station.send_message(NeighborsRequest(self._station.wall_ms(now)), self._asked, now)

    def _join(self, neighbour: Address, now: int) -> None:
        def end(is_joined: bool, now: int) -> None:
            if not is_joined and self._members.forget(neighbour):
                self._station.report(NeighbourRefused(format_address(neighbour)))
                self._search.note_gone(neighbour, now)

        told = (neighbour,)
        self._joining.join(self._station.wall_ms(now), told, told, self._station.config.join_timeout_ms, end, now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if it would ask itself."""
        assert self._station.address not in (self._asked, self._doubted)
