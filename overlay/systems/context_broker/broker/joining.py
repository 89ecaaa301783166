"""Joining and leaving the overlay (wire-protocol section 3).

::

    controller ── 8|N ─> broker ── 8|N|* ─> N     N accepts us and answers 101 (asked again twice within the time-out)
               <─ 101          <─ 5 (101) ─
               <─ 102 when all listed have answered or at the time-out; NACK 201 if none did
                  (with greedy or random membership the list has only candidates: ``neighbour_search``)

    controller ── 7 ───> broker ── 7|* ───> each neighbour, three times within a second
               <─ 101
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from overlay.core.addresses import Address, format_address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.events import JoinFailed, NeighbourJoined, NeighbourLeft, NetworkLeft
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.quotas import part
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import Ack, BrokerJoining, BrokerLeaving, Status
from overlay.systems.context_broker.wire.table import OPERATIONS

ASKS = 3
MOST_JOINS = 64
"""Maximum joins in progress; further orders get NACK 201."""
FAREWELLS = 3
FAREWELL_GAP = 300 * MILLISECOND


@dataclass(slots=True)
class Join:
    """A join of some brokers, until all have answered or its time-out. Monotonic nanoseconds."""

    data: bytes
    gap: int
    deadline: int
    next_ask: int
    awaited: dict[Address, None]
    ended: Callable[[bool, int], None]
    """Called once, with whether any broker has answered, and the time."""
    answered: int = 0

    def next_timer(self) -> int:
        return min(self.next_ask, self.deadline)


@dataclass(slots=True)
class Farewell:
    """Repetitions of ``7|*`` still to be sent."""

    data: bytes
    next_time: int
    to: dict[Address, None]
    left: int = field(default=FAREWELLS)


class Joining:
    """Orders to join or leave, and joins and leaves of neighbours."""

    __slots__ = ("_awaited", "_farewells", "_joins", "_members", "_station", "has_left")

    def __init__(self, station: Station, members: Members, awaited: set[Address]) -> None:
        self._station = station
        self._members = members
        self._awaited = awaited
        """All addresses awaited by joins; shared with the limit for strangers, which exempts them."""
        self._joins: list[Join] = []
        self._farewells: list[Farewell] = []
        self.has_left = False

    # ---- orders of a controller

    def order_join(self, order: BrokerJoining, controller: Address, now: int) -> None:
        self._station.ack(Status.REQ_RECEIVED, OPERATIONS[8], controller, now)
        named = dict.fromkeys(address for address in order.neighbours if address != self._station.address)
        too_many = len(order.neighbours) > self._station.config.neighbour_capacity or len(self._joins) >= MOST_JOINS
        if not named or too_many:
            self._refuse(order, controller, now)
            return

        def answer(is_joined: bool, now: int) -> None:
            if is_joined:
                self._station.ack(Status.REQ_PROCESSED, OPERATIONS[8], controller, now)
            else:
                self._refuse(order, controller, now)

        self.join(order.timestamp, order.neighbours, named, self._station.config.join_timeout_ms, answer, now)

    def join(
        self,
        timestamp: int,
        told: tuple[Address, ...],
        named: Iterable[Address],
        timeout_ms: int,
        ended: Callable[[bool, int], None],
        now: int,
    ) -> Join:
        """Ask other brokers to accept us as a neighbour. ``told`` is the list in the message."""
        awaited = dict.fromkeys(named)
        for farewell in self._farewells:  # a late repetition would undo the join
            farewell.to = {address: None for address in farewell.to if address not in awaited}
        data = encode(BrokerJoining(timestamp, told, passed_on=True))
        timeout = timeout_ms * MILLISECOND
        join = Join(data, -(-timeout // ASKS), now + timeout, now, awaited, ended)
        self._joins.append(join)
        self._awaited.update(awaited)
        self._ask(join, now)
        return join

    def cancel(self, join: Join) -> None:
        """Cancel a join that was replaced, without calling ``ended``."""
        self._joins.remove(join)
        self._note_awaited()

    def order_leave(self, order: BrokerLeaving, controller: Address, now: int) -> None:
        self._station.ack(Status.REQ_RECEIVED, OPERATIONS[7], controller, now)
        self.leave(order.timestamp, now)

    def leave(self, timestamp: int, now: int) -> None:
        """Forget every neighbour and send each a leave, three times within a second."""
        to = dict.fromkeys(self._members.neighbours)
        joins, self._joins = self._joins, []
        for join in joins:
            to.update(join.awaited)
            join.ended(False, now)
        self._members.clear()
        self.has_left = True
        self._station.report(NetworkLeft())
        if to:
            farewell = Farewell(encode(BrokerLeaving(timestamp, passed_on=True)), now, to)
            self._farewells.append(farewell)
            self._say(farewell, now)
        self._note_awaited()

    # ---- messages of other brokers

    def accept_join(self, message: BrokerJoining, source: Address, now: int) -> bool:
        """Accept a broker that joins us; ``False`` if it is refused."""
        known = source in self._awaited or source in self._members  # a neighbour repeats its join if our ACK was lost
        permitted = known or (self._station.open_network.trusts(source) and self._has_share(source, now))
        if not permitted or source == self._station.address or not self._add(source, now):
            return False
        self._station.ack(Status.REQ_RECEIVED, OPERATIONS[8], source, now)
        return True

    def accept_leave(self, message: BrokerLeaving, source: Address, now: int) -> bool:
        """Forget a neighbour that leaves; ``False`` if it is not a neighbour."""
        if not self._members.forget(source):
            return False
        self._station.report(NeighbourLeft(format_address(source)))
        return True

    def accept_ack(self, ack: Ack, source: Address, now: int) -> bool:
        """Handle the answer to a join; ``False`` if that broker was not asked."""
        if source not in self._awaited or ack.operation != OPERATIONS[8] or ack.status != Status.REQ_RECEIVED:
            return False
        if not self._add(source, now):
            return False
        for join in self._joins:
            if source in join.awaited:
                del join.awaited[source]
                join.answered += 1
        self._end([join for join in self._joins if not join.awaited], now)
        return True

    def remind(self, source: Address, now: int) -> None:
        """Inform a broker that still forwards to us that we have left."""
        self._station.send_message(BrokerLeaving(self._station.wall_ms(now), passed_on=True), source, now)

    # ---- time

    def handle_timer(self, now: int) -> None:
        self._end([join for join in self._joins if join.deadline <= now], now)
        for join in self._joins:
            if join.next_ask <= now:
                self._ask(join, now)
        for farewell in list(self._farewells):
            if farewell.next_time <= now:
                self._say(farewell, now)

    def next_timer(self) -> int | None:
        if not (self._joins or self._farewells):  # the usual case, checked after every datagram
            return None
        times = [join.next_timer() for join in self._joins] + [farewell.next_time for farewell in self._farewells]
        return min(times)

    # ---- parts of the above

    def _ask(self, join: Join, now: int) -> None:
        """Send the order, with ``*`` appended, to brokers that have not answered."""
        join.next_ask = now + join.gap
        for address in join.awaited:
            self._station.send(8, join.data, address, now)

    def _end(self, joins: list[Join], now: int) -> None:
        for join in joins:
            self._joins.remove(join)
            if not join.answered:
                self._station.report(JoinFailed(len(join.awaited)))
        self._note_awaited()
        for join in joins:
            join.ended(bool(join.answered), now)

    def _note_awaited(self) -> None:
        self._awaited.clear()
        for join in self._joins:
            self._awaited.update(join.awaited)

    def _has_share(self, joiner: Address, now: int) -> bool:
        """Whether a host may have another uninvited neighbour. Uninvited neighbours have a share of the list, as the
        rest is reserved for our own joins, and each host has a share of that.

        By host, because each neighbour has a different socket. Uninvited joins are rare, so they are counted on demand.
        """
        config, neighbours = self._station.config, self._members.neighbours
        all_hosts = part(config.neighbour_capacity, config.source_share)
        most = part(all_hosts, config.source_share)
        if len(neighbours) < most:
            return True
        if len(neighbours) < all_hosts and sum(host == joiner[0] for host, _ in neighbours) < most:
            return True
        self._station.counters["over_share_joins"] += 1
        self._station.report_limit("neighbours", now)
        return False

    def _add(self, address: Address, now: int) -> bool:
        if not self._members.has_room_for(address):
            self._station.report_limit("neighbours", now)
            return False
        if address not in self._members:
            self._station.report(NeighbourJoined(format_address(address)))
        self._members.add(address)
        self.has_left = False
        for farewell in self._farewells:
            farewell.to.pop(address, None)
        return True

    def _say(self, farewell: Farewell, now: int) -> None:
        for address in farewell.to:
            self._station.send(7, farewell.data, address, now, exempt=True)
        farewell.left -= 1
        farewell.next_time = now + FAREWELL_GAP
        if farewell.left == 0:
            self._farewells.remove(farewell)

    def _refuse(self, order: BrokerJoining, controller: Address, now: int) -> None:
        self._station.nack(Status.I_ERROR, OPERATIONS[8], order.timestamp, controller, now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if awaited and exempt addresses differ."""
        assert self._awaited == {address for join in self._joins for address in join.awaited}
        assert all(join.awaited for join in self._joins)
        assert len(self._joins) <= MOST_JOINS
        assert all(0 < farewell.left < FAREWELLS for farewell in self._farewells)
        assert not (self.has_left and self._members.neighbours)
