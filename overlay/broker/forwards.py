"""Requests that walk on and the Responses that come back, which are most of what the table does not answer.

Counterpart: ``searching`` carries out every strategy, this one too, in the same datagrams, counters, traces and pending
queries. Here is what it comes to where the search is one walk, who asks is trusted, nobody is suspected or has
left, and no replica is to be kept; whatever else comes is left to it. ``tests/broker/test_hits.py`` holds the two
together.
"""

from __future__ import annotations

from overlay.addresses import Address
from overlay.broker.config import BrokerConfig
from overlay.broker.fields import MAX_DATAGRAM
from overlay.broker.joining import Joining
from overlay.broker.members import Members
from overlay.broker.messages import OPERATIONS, Status
from overlay.broker.pending import Pending, Query
from overlay.broker.sliced import Answer, Request, hop_text
from overlay.broker.station import Station
from overlay.broker.table import Table
from overlay.broker.walks import POLICIES

REQUEST = OPERATIONS[3]


def are_plain(config: BrokerConfig) -> bool:
    """Whether requests go to one neighbour, once, and the table's index tells what it lacks."""
    is_walk = config.search == "walk" and not POLICIES[config.walk_policy].is_exhaustive
    return is_walk and config.table == "indexed" and not config.hop_ack


class Forwards:
    __slots__ = (
        "_answers",
        "_index",
        "_joining",
        "_members",
        "_passed",
        "_pending",
        "_policy",
        "_quiet",
        "_requests",
        "_station",
        "_trusts",
        "_ttl",
    )

    def __init__(self, station: Station, members: Members, joining: Joining, pending: Pending, table: Table) -> None:
        self._station = station
        self._members = members
        self._joining = joining
        self._pending = pending
        self._index = table.index
        self._policy = POLICIES[station.config.walk_policy]
        self._ttl = station.config.ttl
        self._trusts = station.open_network.trusted_hosts
        self._requests = self._quiet = self._answers = self._passed = 0

    def send_on(self, request: Request, source: Address, now: int) -> Query | None:
        """What waits for its answer now, sent on; ``None`` if it is no such request, and nothing was done."""
        station, members, pending, key = self._station, self._members, self._pending, request.key
        if key in self._index or members.suspects or self._joining.has_left or not self._trusts(source[0]):
            return None
        hops, timestamp, is_quiet = (*request.hops, source), request.timestamp, request.is_quiet
        route = key + request.path + hop_text(source)
        data = b"3|%d|%b" % (timestamp, route)
        if len(hops) > self._ttl or len(data) > MAX_DATAGRAM or not pending.admits(timestamp, route, now):
            return None
        neighbour = self._policy.choose(members.neighbours, hops, station.chances.walks)
        if neighbour is None:
            return None
        query = pending.walk((hops[0], timestamp, key), hops, route, is_quiet, neighbour, now)
        if is_quiet:
            self._quiet += 1
        else:
            self._requests += 1
            if not request.hops:
                station.ack(Status.REQ_RECEIVED, REQUEST, source, now)
        station.outgoing.append((data, neighbour))
        station.tracer.note_forwarded(query.name, now, source, neighbour)
        return query

    def pass_back(self, answer: Answer, source: Address, now: int) -> bool:
        """Whether it was an answer to such a request; it is on its way back then."""
        if answer.is_marked:
            return False
        query = self._pending.take_walked(source, answer.key + answer.path, now)
        if query is None:
            return False
        station, hops = self._station, query.hops
        to = hops[-1]
        data = answer.data[: -len(hop_text(to))]
        self._answers += 1
        if len(hops) > 1:
            self._passed += 1
            station.outgoing.append((data, to))
        elif station.send(4, data, to, now) and not query.is_quiet:
            station.ack(Status.REQ_PROCESSED, REQUEST, to, now)
        station.tracer.note_passed_back(query.name, now, source, to)
        return True

    def settle(self) -> None:
        """Bring the station's counters up to date."""
        received, sent, counters = self._station.received, self._station.sent, self._station.counters
        received[3] += self._requests
        received[32] += self._quiet
        received[4] += self._answers
        sent[3] += self._requests + self._quiet
        sent[4] += self._passed
        counters["forwards"] += self._requests + self._quiet
        self._requests = self._quiet = self._answers = self._passed = 0
