"""Requests and Lookaheads, and the Responses and NACKs that return along their path.

If the data is not here, a strategy decides what to do (``overlay.systems.context_broker.broker.search``). Answers must
match a pending query, so a broker's answers cannot be redirected by a forged path. An answer then loses its last hop
and is sent to the address of that hop, from which the request was received.

::

    3, 16, 32 ──> answered from the table ──> 4
        └──────> Query ──> strategy ──> 3 or 16 to neighbours ──> 4: settled, returned; later ones are late
                    ^                                   │
                    └─ all refused, or the wait ended ───┘          no move left: NACK returned
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.hops import make_delivery
from overlay.systems.context_broker.broker.joining import Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.pending import Pending, Query
from overlay.systems.context_broker.broker.queries import Answer, Name, Request, answer_of, hop_text, request_of
from overlay.systems.context_broker.broker.quotas import SourceShares
from overlay.systems.context_broker.broker.replication import REPLICATIONS, slots_between
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.search.strategy import Ask, Outcome, Strategy, View
from overlay.systems.context_broker.broker.seen import Seen
from overlay.systems.context_broker.broker.standings import Standing, Standings
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.wire.codec import with_hops
from overlay.systems.context_broker.wire.extensions import Lookahead, QuietRequest
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextResponse, Nack, Status
from overlay.systems.context_broker.wire.table import OPERATIONS
from overlay.systems.context_broker.wire.values import write_hops

REQUEST = OPERATIONS[3]

MOST_MOVES = 4096
"""Maximum moves per query and broker, for any strategy."""


def _learns(kind: type[Strategy]) -> bool:
    """Whether the strategy uses the outcomes of its moves; most do not, and are not called."""
    return kind.note_success is not Strategy.note_success or kind.note_failure is not Strategy.note_failure


def _outcome(query: Query, neighbour: Address, now: int) -> Outcome:
    return Outcome(query.name[2], query.hops, neighbour, now - query.asked_at[neighbour])


_NOTHING_SAID: Mapping[Address, Standing] = {}


def _looking_ns(config: BrokerConfig) -> int:
    """Maximum wait for a shallow flood with these settings: twice the setting, or that of the widest ring."""
    as_set = 2 * max(config.flood_ttl, config.lookahead_ttl) * config.lookahead_wait_ms
    return max(as_set, config.pending_deadline_ms // config.flood_ttl) * MILLISECOND


class Searching:
    def __init__(self, station: Station, members: Members, joining: Joining, storing: Storing) -> None:
        config = station.config
        self._station = station
        self._members = members
        self._joining = joining
        self._storing = storing
        self._strategy = STRATEGIES[config.search](config)
        self._learns = _learns(type(self._strategy))
        self.standings = Standings(station, members) if self._strategy.watches else None
        self._replication = REPLICATIONS[config.replication]
        self._ttl = self._strategy.ttl
        lifetime = config.pending_deadline_ms * MILLISECOND
        # Rings wait by round trips: the narrower ones take half of the deadline, and the last flood is sent in time.
        self._most_round_trip_ns = lifetime // max(config.flood_ttl * (config.flood_ttl - 1), 1)
        shares = SourceShares(config.pending_capacity, config)
        self.pending = Pending(
            config.pending_capacity, lifetime, self._note_expired, shares=shares, payer=station.payer
        )
        self.delivery = make_delivery(station, self._note_undelivered)
        # Lookaheads of others are kept as long as these may wait, in a table separate from requests.
        self._relayed = Pending(
            config.pending_capacity,
            min(lifetime, max(SECOND, _looking_ns(config))),
            shares=SourceShares(config.pending_capacity, config),
            payer=station.payer,
        )
        self.seen = Seen(config.pending_capacity, lifetime)
        self._looked = Seen(config.pending_capacity, lifetime)

    @property
    def waiting(self) -> int:
        """The number of queries waiting for an answer, including Lookaheads of others."""
        return len(self.pending) + len(self._relayed)

    # ---- requests

    def handle_request(self, message: ContextRequest, source: Address, now: int) -> None:
        self.serve(request_of(message, is_quiet=isinstance(message, QuietRequest)), source, now)

    def serve(self, request: Request, source: Address, now: int) -> None:
        """Answer, forward or refuse a request. One with hops comes from a broker and is not acknowledged."""
        station = self._station
        is_duplicate = self.pending.holds(request.timestamp, request.key + request.path + hop_text(source), now)
        if not (request.hops or request.is_quiet):
            station.ack(Status.REQ_RECEIVED, REQUEST, source, now)
        elif request.hops and self._joining.has_left:
            self._joining.remind(source, now)
        name = request.name_from(source)
        station.tracer.note(name, "received", now, source)
        if is_duplicate:
            station.counters["rejected_duplicate"] += 1
            station.tracer.note(name, "dropped", now, source, "it still waits here")
            return
        entry = self._storing.table.find(request.key, station.wall_ms(now))
        if entry is not None:
            station.counters["hits"] += 1
            self._answer(entry, request, name, source, now)
            return
        if self._strategy.remembers and not self.seen.note(name, now, self._strategy.reach(len(request.hops))):
            station.counters["refused_seen"] += 1
            station.tracer.note(name, "turned away", now, source)
            self._refuse(Status.DATA_NOT_FOUND, request, source, now)
            return
        query = self.pending.begin(request, name, source, now)
        if not self._advance(query, now):
            station.counters["not_found"] += 1

    def handle_lookahead(self, lookahead: Lookahead, source: Address, now: int) -> None:
        """Answer a Lookahead, flood it, or drop it."""
        station, request = self._station, request_of(lookahead, is_quiet=True)
        name = request.name_from(source)
        if not station.knows(source):  # otherwise a stranger's datagram could flood all neighbours
            station.counters["rejected_command"] += 1
            return
        ttl = min(lookahead.ttl, station.config.flood_ttl + 1)
        if not self._looked.note(name, now, ttl):
            station.counters["rejected_duplicate"] += 1
            return
        station.tracer.note(name, "looked", now, source)
        entry = self._storing.table.find(request.key, station.wall_ms(now))
        if entry is not None:
            station.counters["hits"] += 1
            self._answer(entry, request, name, source, now, is_lookahead=True)
        elif ttl > 1 and len(request.hops) < station.config.ttl:
            self._look(self._relayed.begin(request, name, source, now, is_lookahead=True), ttl - 1, None, now)

    # ---- answers

    def handle_answer(self, answer: Answer, source: Address, now: int) -> bool:
        """Return a Response, and keep a replica if it is marked; ``False`` if it matches no pending query.

        If the data expired on the way, the consumer gets a not-found instead.
        """
        route = answer.key + answer.path
        query = self.pending.take_answered(source, route, now)
        if query is None:
            query = self._relayed.take_answered(source, route, now)
        if query is None:
            return False
        if self._learns and not query.is_lookahead:
            self._strategy.note_success(_outcome(query, source, now))
        tracer, hops = self._station.tracer, query.hops
        to = hops[-1]
        tracer.note(query.name, "answered", now, source)
        if answer.is_marked and self._storing.keep_replica(answer, now):
            tracer.note(query.name, "replicated", now)
        if len(hops) == 1 and answer.valid_end <= self._station.wall_ms(now):
            query.status = Status.DATA_NOT_FOUND
            self._station.counters["not_found"] += 1
            self._pass_back_refusal(query, now)
            return True
        data = answer.data[: -len(hop_text(to))]
        tracer.note(query.name, "replied", now, to)
        if len(hops) > 1:
            self.delivery.send(4, data, to, now)
        else:
            self._deliver(data, to, now, is_quiet=query.is_quiet)
        return True

    def handle_response(self, response: ContextResponse, source: Address, now: int) -> bool:
        """The same for a parsed Response. A late one is counted and was not unexpected."""
        answer = answer_of(response)
        return self.handle_answer(answer, source, now) or self._is_late(
            self.pending.is_late_answer(source, answer.key + answer.path)
            or self._relayed.is_late_answer(source, answer.key + answer.path)
        )

    def handle_nack(self, nack: Nack, source: Address, now: int) -> bool:
        """Ask the next neighbour, or return a refusal; ``False`` if it matches no pending query."""
        if nack.operation != REQUEST:
            return self.delivery.accept_refusal(nack, source, now)
        path = write_hops(nack.hops).encode()
        refused = self.pending.take_refused(source, nack.timestamp, path, now)
        if refused is None:
            return self._is_late(
                self.pending.is_late_refusal(source, nack.timestamp, path)
                or self._relayed.is_late_refusal(source, nack.timestamp, path)
            )
        query, was_expected = refused
        if self._learns and was_expected:  # otherwise the failure was reported when the neighbour was doubted
            self._strategy.note_failure(_outcome(query, source, now))
        self._station.tracer.note(query.name, "refused", now, source, str(int(nack.status)))
        if query.status == Status.DATA_NOT_FOUND:
            query.status = nack.status
        if not query.is_waiting:
            self._advance(query, now)
        return True

    def give_up_on(self, neighbour: Address, now: int) -> None:
        """Continue without a neighbour that is gone, if the strategy has others to ask.

        Its requests stay open until their deadline, so that its answers are still accepted. Without answers the query
        ends in silence, because silence proves nothing, and the consumer asks again.
        """
        self.delivery.forget(neighbour)
        self.pending.expire(now)  # not during the loop below
        for query in self.pending.asked_of(neighbour) if self._strategy.remembers else ():
            self._doubt(query, neighbour, now, "gone")

    def handle_timer(self, now: int) -> None:
        self._relayed.expire(now)
        self.pending.expire(now)
        for query in self.pending.due(now):
            if not query.is_waiting:
                self._advance(query, now)
        self.delivery.handle_timer(now)

    def next_timer(self) -> int | None:
        timer = self.pending.next_timer()
        for other in (self._relayed.next_timer(), self.delivery.next_timer()):
            if other is not None and (timer is None or other < timer):
                timer = other
        return timer

    # ---- parts of the above

    def _advance(self, query: Query, now: int) -> bool:
        """Let the strategy move until a move is in progress; ``False`` if there is none and the query ends here.

        It does not end while a neighbour that may not have received the request could still answer.
        """
        while query.moves < MOST_MOVES and len(query.hops) <= self._ttl:
            move = self._strategy.decide(self._view(query))
            if move is None:
                break
            query.moves += 1
            if isinstance(move, Ask):
                members, tried = self._members, query.tried
                if self._ask(query, [n for n in move.neighbours if n in members and n not in tried], now):
                    return True
                break
            if self._look(query, move.ttl, now + move.wait_ms * MILLISECOND, now):
                return True
        if query.open:
            return True
        self.pending.remove(query)
        self._pass_back_refusal(query, now)
        return False

    def _view(self, query: Query) -> View:
        station, members = self._station, self._members
        return View(
            station.address,
            query.name[2],
            members.neighbours,
            query.hops,
            query.tried,
            query.moves,
            station.chances.walks,
            members.suspects,
            min(members.round_trip_ns, self._most_round_trip_ns),
            _NOTHING_SAID if self.standings is None else self.standings.known,
        )

    def _ask(self, query: Query, neighbours: Sequence[Address], now: int) -> bool:
        data = query.request
        if not self._may_send(data, query, neighbours, self.pending, now):
            return False
        self.pending.ask(query, neighbours)
        self._note_asked(query, neighbours, now)
        for neighbour in neighbours:
            self._station.tracer.note(query.name, "forwarded", now, neighbour)
            self._station.counters["forwards"] += 1
            self.delivery.send(3, data, neighbour, now, query)
        return True

    def _look(self, query: Query, ttl: int, wake: int | None, now: int) -> bool:
        neighbours = [n for n in self._members.neighbours if n not in query.hops]
        data = b"16|%d|%d|%b" % (query.timestamp, ttl, query.route)
        table = self._relayed if query.is_lookahead else self.pending
        if not self._may_send(data, query, neighbours, table, now):
            return False
        table.look(query, neighbours, wake)
        self._note_asked(query, neighbours, now)
        for neighbour in neighbours:
            self._station.tracer.note(query.name, "looks", now, neighbour)
            self._station.counters["lookaheads"] += 1
            self.delivery.send(16, data, neighbour, now)
        return True

    def _note_asked(self, query: Query, neighbours: Sequence[Address], now: int) -> None:
        if self._learns:
            query.asked_at = {**query.asked_at, **dict.fromkeys(neighbours, now)}

    def _may_send(self, data: bytes, query: Query, neighbours: Collection[Address], table: Pending, now: int) -> bool:
        """Whether there are receivers, another hop fits into the datagram, and answers can be awaited."""
        if not neighbours or len(data) > MAX_DATAGRAM:
            return False
        if not table.has_room(now, len(neighbours)):
            self._station.report_limit("pending", now)
        elif not table.has_share(query.hops[-1], len(neighbours)):
            self._station.counters["over_share_requests"] += 1
            self._station.report_limit("pending share", now)
        else:
            return True
        return False

    def _answer(
        self, entry: Entry, request: Request, name: Name, source: Address, now: int, *, is_lookahead: bool = False
    ) -> None:
        self._station.tracer.note(name, "found", now, source)
        self._station.counters["hit_hops"] += len(request.hops)
        if not request.hops:
            self._deliver(entry.response, source, now, is_quiet=request.is_quiet)
            return
        keepers = self._keepers(entry, request, source)
        data = with_hops(entry.response, request.hops, keepers) if keepers else entry.response + request.path
        if len(data) > MAX_DATAGRAM:
            keepers = {}
            data = entry.response + request.path
        if len(data) <= MAX_DATAGRAM:
            self.delivery.send(4, data, source, now)
            if source in self._members:  # anyone can write hops, and refreshes would be sent to them
                self._storing.note_replicas(entry, keepers.values(), now)
        elif not is_lookahead:
            self._station.tracer.note(name, "passed back", now, source, str(int(Status.I_ERROR)))
            self._refuse(Status.I_ERROR, request, source, now)

    def _keepers(self, entry: Entry, request: Request, source: Address) -> dict[int, Address]:
        """The brokers that should keep a replica, by the position to mark in the hops."""
        station, config = self._station, self._station.config
        lasts = entry.valid_end - entry.valid_begin
        if lasts < config.replication_threshold_ms or not self._storing.may_replicate(entry):
            return {}
        slots = slots_between(request.hops, source, station.address)
        chosen = self._replication.choose(tuple(slots), config.replication_index, station.chances.replicas)
        return {position: slots[position] for position in chosen}

    def _deliver(self, response: bytes, consumer: Address, now: int, *, is_quiet: bool) -> None:
        if self._station.send(4, response, consumer, now) and not is_quiet:
            self._station.ack(Status.REQ_PROCESSED, REQUEST, consumer, now)

    def _refuse(self, status: int, request: Request, source: Address, now: int) -> None:
        consumer = request.hops[0] if request.hops else source
        self._nack(Nack(request.timestamp, status, REQUEST, consumer, request.hops), source, now)

    def _pass_back_refusal(self, query: Query, now: int) -> None:
        *hops, to = query.hops
        self._station.tracer.note(query.name, "passed back", now, to, str(int(query.status)))
        self._nack(Nack(query.timestamp, query.status, REQUEST, query.hops[0], tuple(hops)), to, now)

    def _nack(self, nack: Nack, to: Address, now: int) -> None:
        """Send a NACK to a broker or to the consumer."""
        if nack.hops:
            self.delivery.send_message(nack, to, now)
        else:
            self._station.send_message(nack, to, now)

    def _note_undelivered(self, query: Query, neighbour: Address, now: int) -> None:
        """Continue without a neighbour that did not acknowledge; the move that asked it does not count.

        Only if brokers remember queries, so that each gets a query once. The neighbour may have received it although
        its acknowledgements were lost, and a walk that forked at each such doubt would become a storm. Otherwise wait.
        """
        self._doubt(query, neighbour, now, "not acknowledged")

    def _doubt(self, query: Query, neighbour: Address, now: int, why: str) -> None:
        if not self.pending.doubt(query, neighbour):
            return
        if self._learns:
            self._strategy.note_failure(_outcome(query, neighbour, now))
        self._station.tracer.note(query.name, "gave up", now, neighbour, why)
        if self._strategy.remembers and not query.is_waiting:
            query.moves -= 1
            self._advance(query, now)

    def _note_expired(self, query: Query, now: int) -> None:
        if self._learns:
            for neighbour in [neighbour for neighbour, is_expected in query.open.items() if is_expected]:
                self._strategy.note_failure(_outcome(query, neighbour, now))
        self._station.tracer.note(query.name, "expired", now)

    def _is_late(self, is_late: bool) -> bool:
        """Count an answer to a query that another broker has answered."""
        self._station.counters["late_answers"] += is_late
        return is_late

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state is inconsistent."""
        for part in (self.pending, self._relayed, self.seen, self._looked, self.delivery):
            part.check_invariants()
