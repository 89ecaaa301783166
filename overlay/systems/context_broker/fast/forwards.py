"""Requests that walk on and the Responses that come back: most of what the table does not answer.

Counterpart: ``Searching`` carries out every strategy, this one too, with the same datagrams, counters, traces and
pending queries. This is the short form for one walk, where the query was not here before, who asks is trusted, no
neighbour is suspected, this broker has not left, and no replica is to be kept; anything else is left to it.
``tests/fast/test_conversations.py`` compares the two.
"""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.joining import Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.queries import hop_text
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.search.walk import Walk
from overlay.systems.context_broker.broker.searching import Searching
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.broker.walks import POLICIES
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM
from overlay.systems.context_broker.wire.messages import Hops, RawKey, Status
from overlay.systems.context_broker.wire.table import OPERATIONS

REQUEST = OPERATIONS[3]


def are_plain(config: BrokerConfig) -> bool:
    """Whether requests go to one neighbour, once, and the table's index tells what it lacks."""
    return STRATEGIES[config.search] is Walk and config.table == "indexed" and not config.hop_ack


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
        "_seen",
        "_station",
        "_trusts",
        "_ttl",
    )

    def __init__(
        self, station: Station, members: Members, joining: Joining, searching: Searching, storing: Storing
    ) -> None:
        self._station = station
        self._members = members
        self._joining = joining
        self._pending = searching.pending
        self._index = storing.table.index
        self._policy = POLICIES[station.config.walk_policy]
        self._seen = searching.seen if self._policy.is_exhaustive else None
        self._ttl = station.config.ttl
        self._trusts = station.open_network.trusted_hosts
        self._requests = self._quiet = self._answers = self._passed = 0

    def send_on(
        self, timestamp: int, key: RawKey, hops: Hops, path: bytes, is_quiet: bool, source: Address, now: int
    ) -> int | None:
        """Until when its answer is waited for, sent on; ``None`` if it is no such request, and nothing was done."""
        station, members, pending = self._station, self._members, self._pending
        if key in self._index or members.suspects or self._joining.has_left or not self._trusts(source[0]):
            return None
        walked = (*hops, source)
        route = key + path + hop_text(source)
        data = b"3|%d|%b" % (timestamp, route)
        if len(walked) > self._ttl or len(data) > MAX_DATAGRAM or not pending.admits(timestamp, route, now):
            return None
        name = walked[0], timestamp, key
        if self._seen is not None and not self._seen.note(name, now):
            return None
        neighbour = self._policy.choose(members.neighbours, walked, station.chances.walks)
        if neighbour is None:
            if self._seen is not None:
                self._seen.forget(name)
            return None
        deadline = pending.walk(name, walked, route, is_quiet, neighbour, now)
        if is_quiet:
            self._quiet += 1
        else:
            self._requests += 1
            if not hops:
                station.ack(Status.REQ_RECEIVED, REQUEST, source, now)
        station.outgoing.append((data, neighbour))
        station.tracer.note_forwarded(name, now, source, neighbour)
        return deadline

    def pass_back(self, data: bytes, route: bytes, source: Address, now: int) -> bool:
        """Whether it was an answer to such a request; it is on its way back then. ``route`` is its key and path."""
        query = self._pending.take_walked(source, route, now)
        if query is None:
            return False
        station, hops = self._station, query.hops
        to = hops[-1]
        data = data[: -len(hop_text(to))]
        self._answers += 1
        if len(hops) > 1 and self._trusts(to[0]):
            self._passed += 1
            station.outgoing.append((data, to))
        elif station.send(4, data, to, now) and not (query.is_quiet or len(hops) > 1):
            station.ack(Status.REQ_PROCESSED, REQUEST, to, now)
        station.tracer.note_passed_back(query.name, now, source, to)
        return True

    def add_to(self, counters: dict[str, int]) -> None:
        """Add what was counted here to all counters of a broker."""
        forwarded = self._requests + self._quiet
        counters["in_3"] += self._requests
        counters["in_32"] += self._quiet
        counters["in_4"] += self._answers
        counters["out_3"] += forwarded
        counters["out_4"] += self._passed
        counters["forwards"] += forwarded
