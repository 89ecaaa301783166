"""Neighbour search: pings a list of candidates and joins the preferred ones that answer (seed 000, section 3.4.4).

Counterparts: ``membership`` defines the preference, ``joining`` sends the joins. An order to join (8 from a controller)
is a bootstrap list. A new order replaces it, and its pending joins are cancelled.

::

              8: list                    three pings each                 no candidate is left
    at rest ──────────> pinging ──────────────────────────> joining ────────────────────────────> at rest
       ^                   ^       (half the time-out)      8|…|* ─>          enough neighbours
       │                   │                                <─ 5 (101)                │
       │                   └── end of the interval, or new candidates (18, 19) ── waiting <─ too few
       └── a neighbour is gone, and too few are left: pinging

The controller gets 102 as soon as enough brokers are joined, or NACK 201 if that does not happen within the join
time-out; the search continues in either case.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum, auto

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.events import NeighboursAwaited, NeighboursFound
from overlay.systems.context_broker.broker.joining import Join, Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.membership import Preference
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.messages import (
    BrokerJoining,
    NeighborsRequest,
    NeighborsResponse,
    Ping,
    Status,
)
from overlay.systems.context_broker.wire.table import OPERATIONS

PINGS = 3
"""Pings per candidate; the mean of their round trips counts."""
MOST_CANDIDATES = 100
"""Maximum candidates: from a longer list this many are drawn at random, and no more are learned."""
LONGEST_GAP = 60
"""Maximum interval between two tries while waiting, in join time-outs."""


class Stage(Enum):
    AT_REST = auto()
    PINGING = auto()
    JOINING = auto()
    WAITING = auto()


@dataclass(slots=True)
class Trial:
    """The pings to one candidate. Monotonic nanoseconds."""

    pings: int = 0
    first_open: int | None = None
    """The time of the oldest unanswered ping, so that a lost ping counts as a slow one."""
    next_ping: int = 0
    round_trips: list[int] = field(default_factory=list)
    was_asked: bool = False
    """Whether a join was sent to it."""

    @property
    def is_over(self) -> bool:
        return self.pings == PINGS and self.first_open is None


@dataclass(slots=True)
class Order:
    """A controller waiting for an answer."""

    message: BrokerJoining
    controller: Address
    deadline: int


class NeighbourSearch:
    __slots__ = (
        "_gap",
        "_join",
        "_joining",
        "_learned",
        "_listed",
        "_members",
        "_named",
        "_order",
        "_preference",
        "_questioned",
        "_stage",
        "_station",
        "_timeout",
        "_trials",
        "_until",
    )

    def __init__(self, station: Station, members: Members, joining: Joining, preference: Preference | None) -> None:
        config = station.config
        self._station = station
        self._members = members
        self._joining = joining
        self._preference = preference
        self._timeout = config.join_timeout_ms * MILLISECOND
        self._stage = Stage.AT_REST
        self._until = 0
        """The end of pinging or waiting."""
        self._gap = self._timeout
        self._named: frozenset[Address] = frozenset()
        """The ordered list."""
        self._listed: tuple[Address, ...] = ()
        self._learned: dict[Address, None] = {}
        self._trials: dict[Address, Trial] = {}
        self._questioned: dict[Address, None] = {}
        """Brokers asked for their neighbours in this try."""
        self._order: Order | None = None
        self._join: Join | None = None
        """The pending join, while joining."""

    @property
    def is_on(self) -> bool:
        return self._preference is not None

    # ---- orders of a controller

    def order(self, message: BrokerJoining, controller: Address, now: int) -> None:
        """Accept a list of candidates and start a search."""
        self._station.ack(Status.REQ_RECEIVED, OPERATIONS[8], controller, now)
        named = [address for address in dict.fromkeys(message.neighbours) if address != self._station.address]
        if not named:
            self._refuse(Order(message, controller, now), now)
            return
        order, known = self._order, frozenset(named) == self._named
        if order is not None and order.controller == controller and known:
            order.message = message  # repeated, because it was only answered by 101 so far
            return
        if order is not None:
            self._refuse(order, now)
        self._order = Order(message, controller, now + self._timeout)
        if not known:
            self._named = frozenset(named)
            few = len(named) <= MOST_CANDIDATES
            self._listed = tuple(named if few else self._station.chances.members.sample(named, MOST_CANDIDATES))
            self._learned.clear()
        self._gap = self._timeout
        if self._join is not None:
            self._joining.cancel(self._join)
            self._join = None
        self._begin(now)

    def stop(self, now: int) -> None:
        """Stop, because a controller ordered the broker to leave."""
        order, self._order = self._order, None
        self._join = None  # it ends when we leave, with a leave to the awaited brokers
        self._stage, self._named, self._listed = Stage.AT_REST, frozenset(), ()
        self._learned.clear()
        self._trials.clear()
        self._questioned.clear()
        if order is not None:
            self._refuse(order, now)

    # ---- messages of other brokers

    def accept_ping_response(self, source: Address, now: int) -> bool:
        """Handle a candidate's answer; ``False`` if no ping to it was open."""
        trial = self._trials.get(source)
        if trial is None or trial.first_open is None:
            return False
        trial.round_trips.append(now - trial.first_open)
        trial.first_open = None
        if self._stage is Stage.PINGING:
            if trial.pings < PINGS:
                self._ping(source, trial, now)
            elif all(other.is_over for other in self._trials.values()):
                self._join_best(now)
        elif self._stage is Stage.WAITING:
            self._join_best(now)
        return True

    def accept_neighbours(self, answer: NeighborsResponse, source: Address, now: int) -> bool:
        """Add a broker's neighbours as candidates; ``False`` if it was not asked."""
        if source not in self._questioned:
            return False
        del self._questioned[source]
        known = self._candidates()
        learned = [address for address in dict.fromkeys(answer.neighbours) if self._may_learn(address, known)]
        self._learned |= dict.fromkeys(learned[: MOST_CANDIDATES - len(known)])
        if learned and self._stage is Stage.WAITING:  # wait for the answers of a few more
            self._until = min(self._until, now + self._timeout // 10)
        return True

    def review(self, now: int) -> None:
        """A broker has joined us, which may be enough."""
        if self._stage is Stage.WAITING and self._has_enough():
            self._conclude(now)

    def considers(self, address: Address) -> bool:
        """Whether the departure of this broker is relevant to the search."""
        return address in self._learned or (self._stage is Stage.PINGING and address in self._trials)

    def note_gone(self, address: Address, now: int) -> None:
        """A broker is gone; too few may be left."""
        self._learned.pop(address, None)
        if address in self._trials and self._stage is Stage.PINGING:
            self._trials[address].round_trips.clear()
        if self._stage is Stage.AT_REST and self._listed and not self._has_enough():
            self._gap = self._timeout
            self._begin(now)

    # ---- time

    def handle_timer(self, now: int) -> None:
        if self._order is not None and self._order.deadline <= now:
            self._answer(now)
        if self._stage is Stage.PINGING:
            for address, trial in self._trials.items():
                if trial.pings < PINGS and trial.next_ping <= now:
                    self._ping(address, trial, now)
            if self._until <= now:
                self._join_best(now)
        elif self._stage is Stage.WAITING and self._until <= now:
            self._begin(now)

    def next_timer(self) -> int | None:
        if self._order is None and self._stage in (Stage.AT_REST, Stage.JOINING):  # the usual case
            return None
        times = [] if self._order is None else [self._order.deadline]
        if self._stage in (Stage.PINGING, Stage.WAITING):
            times.append(self._until)
        if self._stage is Stage.PINGING:
            times += [trial.next_ping for trial in self._trials.values() if trial.pings < PINGS]
        return min(times, default=None)

    # ---- parts of the above

    def _begin(self, now: int) -> None:
        """Ping every candidate that is not a neighbour."""
        self._questioned.clear()
        self._trials = {address: Trial() for address in self._candidates() if address not in self._members}
        if self._missing() == 0 or not self._trials:
            self._conclude(now)
            return
        self._stage, self._until = Stage.PINGING, now + self._timeout // 2
        for address, trial in self._trials.items():
            self._ping(address, trial, now)

    def _ping(self, address: Address, trial: Trial, now: int) -> None:
        trial.pings += 1
        trial.next_ping = now + self._timeout // (2 * PINGS)
        if trial.first_open is None:
            trial.first_open = now
        ping = Ping(self._station.wall_ms(now))
        self._station.send_message(ping, address, now, exempt=address in self._listed)

    def _join_best(self, now: int) -> None:
        """Join as many as are missing; after their answers or time-out, the next ones."""
        assert self._preference is not None
        means = {
            address: sum(trial.round_trips) / len(trial.round_trips)
            for address, trial in self._trials.items()
            if trial.round_trips and not trial.was_asked and address not in self._members
        }
        chosen = tuple(self._preference.rank(means, self._station.chances.members)[: self._missing()])
        if not chosen:
            self._conclude(now)
            return
        for address in chosen:
            self._trials[address].was_asked = True
        self._stage = Stage.JOINING
        timeout_ms = max(self._station.config.join_timeout_ms // 2, 1)

        def end(is_joined: bool, now: int) -> None:
            self._go_on(join, now)

        join = self._joining.join(self._station.wall_ms(now), chosen, chosen, timeout_ms, end, now)
        self._join = join

    def _go_on(self, join: Join, now: int) -> None:
        """A join has ended; cancelled joins are ignored."""
        if join is self._join:
            self._join = None
            self._join_best(now)

    def _conclude(self, now: int) -> None:
        if self._has_enough():
            if self._stage is not Stage.AT_REST:
                self._station.report(NeighboursFound(len(self._members.neighbours)))
            self._stage = Stage.AT_REST
            self._trials.clear()
            if self._order is not None:
                self._answer(now)
            return
        if self._gap == self._timeout:
            self._station.report(NeighboursAwaited(len(self._members.neighbours)))
        self._stage, self._until = Stage.WAITING, now + self._gap
        self._gap = min(self._gap * 3 // 2, LONGEST_GAP * self._timeout)
        self._widen(now)

    def _widen(self, now: int) -> None:
        """Ask reachable brokers for further candidates."""
        if len(self._candidates()) >= MOST_CANDIDATES:
            return
        reached = [address for address, trial in self._trials.items() if trial.round_trips]
        for address in dict.fromkeys([*self._members.neighbours[:MOST_CANDIDATES], *reached]):
            self._questioned[address] = None
            self._station.send_message(NeighborsRequest(self._station.wall_ms(now)), address, now)

    def _may_learn(self, address: Address, known: Collection[Address]) -> bool:
        """Candidates named by others are pinged only within the trusted networks, to protect strangers."""
        is_new = address not in known and address != self._station.address
        return is_new and self._station.open_network.trusts(address)

    def _candidates(self) -> dict[Address, None]:
        return dict.fromkeys([*self._listed, *self._learned])

    def _missing(self) -> int:
        """The number of missing neighbours."""
        return max(self._station.config.neighbours_wanted - len(self._members.neighbours), 0)

    def _has_enough(self) -> bool:
        return len(self._members.neighbours) >= min(self._station.config.neighbours_least, len(self._listed))

    def _answer(self, now: int) -> None:
        order, self._order = self._order, None
        assert order is not None
        if self._has_enough():
            self._station.ack(Status.REQ_PROCESSED, OPERATIONS[8], order.controller, now)
        else:
            self._refuse(order, now)

    def _refuse(self, order: Order, now: int) -> None:
        self._station.nack(Status.I_ERROR, OPERATIONS[8], order.message.timestamp, order.controller, now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a search has no order or exceeds its limits."""
        assert self.is_on or self._stage is Stage.AT_REST
        assert self._listed or (self._stage is Stage.AT_REST and self._order is None)
        assert len(self._trials) <= MOST_CANDIDATES
        assert len(self._candidates()) <= MOST_CANDIDATES
        assert not self._learned or self._listed
        assert self._station.address not in self._trials
        assert (self._join is not None) is (self._stage is Stage.JOINING)
        assert all(1 <= trial.pings <= PINGS for trial in self._trials.values())
        assert self._trials or self._stage not in (Stage.PINGING, Stage.JOINING)
