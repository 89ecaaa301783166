"""Requests that walk on, which are most of those that the table does not answer.

Counterpart: ``searching`` carries out every strategy, this one too, in the same datagrams, counters, traces and pending
queries. Here is what it comes to where the search is one walk, the sender is trusted, and nobody is suspected or has
left; whatever else comes is left to it. ``tests/broker/test_hits.py`` holds the two together.
"""

from __future__ import annotations

from overlay.addresses import Address
from overlay.broker.config import BrokerConfig
from overlay.broker.fields import MAX_DATAGRAM
from overlay.broker.joining import Joining
from overlay.broker.members import Members
from overlay.broker.messages import OPERATIONS, Status
from overlay.broker.pending import Pending, Query
from overlay.broker.sliced import Request, hop_text
from overlay.broker.station import Station
from overlay.broker.table import Table
from overlay.broker.walks import POLICIES

REQUEST = OPERATIONS[3]


def are_plain(config: BrokerConfig) -> bool:
    """Whether requests go to one neighbour, once, and the table's index tells what it lacks."""
    is_walk = config.search == "walk" and not POLICIES[config.walk_policy].is_exhaustive
    return is_walk and config.table == "indexed" and not config.hop_ack


class Forwards:
    __slots__ = ("_index", "_joining", "_members", "_pending", "_policy", "_station", "_trusts", "_ttl")

    def __init__(self, station: Station, members: Members, joining: Joining, pending: Pending, table: Table) -> None:
        self._station = station
        self._members = members
        self._joining = joining
        self._pending = pending
        self._index = table.index
        self._policy = POLICIES[station.config.walk_policy]
        self._ttl = station.config.ttl
        self._trusts = station.open_network.trusted_hosts

    def send_on(self, request: Request, source: Address, now: int) -> Query | None:
        """What waits for its answer now, sent on; ``None`` if it is no such request, and nothing was done."""
        station, members, pending = self._station, self._members, self._pending
        if request.key in self._index or members.suspects or self._joining.has_left or not self._trusts(source[0]):
            return None
        hops = (*request.hops, source)
        name, path = (hops[0], request.timestamp, request.key), request.path + hop_text(source)
        query = Query(name, hops, path, request.is_quiet, now + pending.lifetime_ns)
        data = query.request
        if len(hops) > self._ttl or len(data) > MAX_DATAGRAM or not pending.admits(query, now):
            return None
        neighbour = self._policy.choose(members.neighbours, hops, station.chance)
        if neighbour is None:
            return None
        pending.walk(query, neighbour)
        if not (request.hops or request.is_quiet):
            station.ack(Status.REQ_RECEIVED, REQUEST, source, now)
        station.outgoing.append((data, neighbour))
        station.sent[3] += 1
        station.counters["forwards"] += 1
        station.tracer.note(name, "received", now, source)
        station.tracer.note(name, "forwarded", now, neighbour)
        return query
