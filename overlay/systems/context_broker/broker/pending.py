"""Pending requests: forwarded and not answered yet. Responses and NACKs are matched with them to find the way back."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.queries import Name, Request, hop_text
from overlay.systems.context_broker.broker.quotas import Shares
from overlay.systems.context_broker.wire.messages import ContextRequest, Hops, Status, raw_key

CALM = 20
"""Below this fraction (one in so many) of the table, usage per sender is not counted."""

Index = TypeVar("Index", bound=Hashable)


def name_of(request: ContextRequest, source: Address) -> Name:
    return request.hops[0] if request.hops else source, request.timestamp, raw_key(request.key)


class Query:
    """A request forwarded by this broker. ``hops`` are as sent: the consumer first, its sender last."""

    __slots__ = (
        "asked_at",
        "deadline",
        "hops",
        "is_lookahead",
        "is_quiet",
        "looked",
        "moves",
        "name",
        "open",
        "path",
        "refused",
        "route",
        "status",
        "wake",
    )

    def __init__(
        self, name: Name, hops: Hops, route: bytes, is_quiet: bool, deadline: int, *, is_lookahead: bool = False
    ) -> None:
        self.name = name
        self.hops = hops
        self.route = route
        """What a matching Response contains: the raw key, and ``path``. It must come from a neighbour that was
        asked."""
        self.path = route[len(name[2]) :]
        """``hops`` as text."""
        self.is_lookahead = is_lookahead
        self.is_quiet = is_quiet
        self.deadline = deadline
        self.moves = 0
        """Number of moves of the strategy."""
        self.open: dict[Address, bool] = {}
        """Neighbours that were asked and have neither answered nor refused; ``False`` if they may not have received it.
        """
        self.asked_at: Mapping[Address, int] = _NEVER
        """When (ns) neighbours were asked or sent a Lookahead, if the strategy needs it."""
        self.refused: frozenset[Address] = _NOBODY
        """Neighbours that were asked and have refused."""
        self.looked: frozenset[Address] = _NOBODY
        """Neighbours that were sent a Lookahead."""
        self.wake: int | None = None
        """When to decide again without an answer."""
        self.status: int = Status.DATA_NOT_FOUND
        """The status of a refusal: the first other than not found, if any."""

    @property
    def timestamp(self) -> int:
        return self.name[1]

    @property
    def request(self) -> bytes:
        """The forwarded datagram."""
        return b"3|%d|%b" % (self.name[1], self.route)

    @property
    def tried(self) -> frozenset[Address]:
        """Neighbours that were asked."""
        return self.refused.union(self.open)

    @property
    def is_waiting(self) -> bool:
        """Whether an answer or a refusal is still expected."""
        return True in self.open.values()


class Pending:
    """A bounded table of queries. All have the same time-out, so the order of arrival is the order of deadlines.

    A Response does not contain its query's timestamp, nor a NACK its entity, so there is an index for each. Queries
    that an answer cannot distinguish are answered in order of arrival.
    """

    def __init__(
        self,
        capacity: int,
        lifetime_ns: int,
        on_expired: Callable[[Query, int], None] = lambda query, now: None,
        *,
        shares: Shares[Address] | None = None,
        payer: Callable[[Address], Address] = lambda source: source,
    ) -> None:
        """``on_expired`` is called with each query that reached its deadline, and the time.

        Each ``payer`` of a sender has a share of the table; without ``shares`` there are no limits. ``shares`` is
        used by this table only.
        """
        self._capacity = capacity
        self._shares = Shares[Address](capacity) if shares is None else shares
        self._is_counting = False
        """Whether ``_shares`` is maintained: only while a source could reach its limit."""
        self._payer = payer
        self._calm = self._shares.most(("", 1))
        """With fewer branches no trusted source can reach its limit."""
        self._lifetime_ns = lifetime_ns
        self._on_expired = on_expired
        self._branches = 0
        self._next_expiry = 0
        """When to check for expired queries; never late."""
        self.queries: OrderedDict[tuple[int, bytes], Query] = OrderedDict()
        """By timestamp and route, which identify a request."""
        self._by_response: dict[bytes, Query | list[Query]] = {}
        """By route."""
        self._by_refusal: dict[tuple[int, bytes], Query | list[Query]] = {}
        """By timestamp and path."""
        self._late: OrderedDict[Hashable, int] = OrderedDict()
        """Answers that may still arrive for settled queries, and until when; these are not unexpected."""
        self._wakes: list[tuple[int, int, Query]] = []
        self._wake_count = 0
        self.expired = 0
        """Total number of expired queries."""

    def __len__(self) -> int:
        return len(self.queries)

    def __contains__(self, query: Query) -> bool:
        return self.queries.get((query.timestamp, query.route)) is query

    def has_room(self, now: int, branches: int = 1) -> bool:
        """Whether this many further neighbours can be awaited."""
        self.expire(now)
        return self._branches + branches <= self._capacity

    def has_share(self, source: Address, branches: int = 1) -> bool:
        """Whether the payer of ``source`` may have this many further neighbours awaited."""
        shares, payer = self._shares, self._payer(source)
        if self._branches + branches <= shares.most(payer):
            return True
        if not self._is_counting:
            self._is_counting = True
            for query in self.queries.values():
                shares.take(self._payer(query.hops[-1]), len(query.open) + len(query.looked))
        return shares.permits(payer, branches)

    def holds(self, timestamp: int, route: bytes, now: int) -> bool:
        """Whether a request with the same timestamp, entity, scope, hops and sender is pending."""
        self.expire(now)
        return (timestamp, route) in self.queries

    def begin(self, request: Request, name: Name, source: Address, now: int, *, is_lookahead: bool = False) -> Query:
        """A new query, added to the table when a neighbour is asked; it replaces an identical one."""
        hops, route = (*request.hops, source), request.key + request.path + hop_text(source)
        query = Query(name, hops, route, request.is_quiet, now + self._lifetime_ns, is_lookahead=is_lookahead)
        known = self.queries.get((query.timestamp, query.route))
        if known is not None:  # a wider Lookahead of the same query, on the same path
            self.remove(known)
        return query

    def ask(self, query: Query, neighbours: Sequence[Address]) -> None:
        """Note that the request will be sent to these neighbours, none of which was asked before."""
        if query not in self:
            self._add(query)
        for neighbour in neighbours:
            query.open[neighbour] = True
        self._book(query, len(neighbours))

    def admits(self, timestamp: int, route: bytes, now: int) -> bool:
        """Whether a trusted source may call ``walk``: there is enough room, and no identical request is pending."""
        if now >= self._next_expiry:
            self._expire(now)
        return self._branches < self._calm and (timestamp, route) not in self.queries

    def walk(self, name: Name, hops: Hops, route: bytes, is_quiet: bool, neighbour: Address, now: int) -> int:
        """``begin`` and ``ask`` for a query whose first move is to one neighbour. Returns its deadline."""
        query = Query(name, hops, route, is_quiet, now + self._lifetime_ns)
        query.moves = 1
        query.open[neighbour] = True
        self._add(query)
        self._branches += 1
        if self._is_counting:
            self._count(query, 1)
        return query.deadline

    def look(self, query: Query, neighbours: Sequence[Address], wake: int | None = None) -> None:
        """Note that a Lookahead will be sent to these neighbours; at ``wake`` the query is in ``due``."""
        if query not in self:
            self._add(query)
        self._book(query, len(set(neighbours) - query.looked))
        query.looked = query.looked.union(neighbours)
        query.wake = wake
        if wake is not None:
            self._wake_count += 1
            heappush(self._wakes, (wake, self._wake_count, query))
            if len(self._wakes) > 2 * len(self.queries) + 64:  # remove entries of answered queries
                self._wakes = [item for item in self._wakes if item[2].wake == item[0]]
                heapify(self._wakes)

    def take_answered(self, source: Address, route: bytes, now: int) -> Query | None:
        """Remove and return the query answered by a Response. ``route`` is its raw key and the path in it."""
        self.expire(now)
        for query in _all(self._by_response, route):
            if source in query.open or source in query.looked:
                self.remove(query, but=source)
                return query
        return None

    def take_walked(self, source: Address, route: bytes, now: int) -> Query | None:
        """``take_answered`` if only ``source`` was asked and only one query has this route."""
        if now >= self._next_expiry:
            self._expire(now)
        query = self._by_response.get(route)
        if not isinstance(query, Query) or query.looked or len(query.open) > 1 or source not in query.open:
            return None
        del self._by_response[route]
        del self.queries[query.name[1], route]
        _discard(self._by_refusal, (query.name[1], query.path), query)
        self._branches -= 1
        if self._is_counting:
            self._count(query, -1)
        return query

    def take_refused(self, source: Address, timestamp: int, path: bytes, now: int) -> tuple[Query, bool] | None:
        """The query refused by a NACK, which no longer waits for ``source``, and whether an answer was expected."""
        self.expire(now)
        for query in _all(self._by_refusal, (timestamp, path)):
            if source in query.open:
                was_expected = query.open.pop(source)
                query.refused |= {source}
                self._book(query, -1)
                return query, was_expected
        return None

    def is_late_answer(self, source: Address, route: bytes) -> bool:
        """Whether a Response is for a query that has already been settled."""
        return self._late.pop((source, route), None) is not None

    def is_late_refusal(self, source: Address, timestamp: int, path: bytes) -> bool:
        """Whether a NACK is for a query that has already been settled."""
        return self._late.pop((source, timestamp, path), None) is not None

    def asked_of(self, neighbour: Address) -> list[Query]:
        """The queries that wait for a neighbour's answer."""
        return [query for query in self.queries.values() if neighbour in query.open]

    def doubt(self, query: Query, neighbour: Address) -> bool:
        """Stop expecting an answer of this neighbour, but still accept it; ``False`` if it is settled."""
        if not query.open.get(neighbour, False) or query not in self:
            return False
        query.open[neighbour] = False
        return True

    def remove(self, query: Query, but: Address | None = None) -> None:
        """The query is settled. Answers of neighbours other than ``but`` are late."""
        if query not in self:
            return
        del self.queries[query.timestamp, query.route]
        _discard(self._by_response, query.route, query)
        _discard(self._by_refusal, (query.timestamp, query.path), query)
        looked, asked = query.looked, query.open
        for neighbour in looked.union(asked) if looked else asked:
            if neighbour != but or (neighbour in looked and neighbour in asked):
                self._late[neighbour, query.route] = query.deadline
                self._late[neighbour, query.timestamp, query.path] = query.deadline
        self._book(query, -len(asked) - len(looked))
        query.wake = None
        while len(self._late) > self._capacity:
            self._late.popitem(last=False)

    def expire(self, now: int) -> None:
        """Remove queries that reached their deadline."""
        if now >= self._next_expiry:
            self._expire(now)

    def _expire(self, now: int) -> None:
        while self.queries and (query := next(iter(self.queries.values()))).deadline <= now:
            self.remove(query)
            self.expired += 1
            self._on_expired(query, now)
        while self._late and next(iter(self._late.values())) <= now:
            self._late.popitem(last=False)
        self._next_expiry = now + self._lifetime_ns
        if self.queries:
            self._next_expiry = next(iter(self.queries.values())).deadline
        if self._late:
            self._next_expiry = min(self._next_expiry, next(iter(self._late.values())))

    def due(self, now: int) -> list[Query]:
        """The queries whose wait has ended; each is returned once."""
        due = []
        while self._wakes and self._wakes[0][0] <= now:
            wake, _, query = heappop(self._wakes)
            if query.wake == wake:
                query.wake = None
                due.append(query)
        return due

    def next_timer(self) -> int | None:
        if not self.queries:
            return None
        deadline = next(iter(self.queries.values())).deadline
        while self._wakes and self._wakes[0][2].wake != self._wakes[0][0]:
            heappop(self._wakes)
        if not self._wakes:
            return deadline
        return min(deadline, self._wakes[0][0])

    def _add(self, query: Query) -> None:
        timestamp, route = query.name[1], query.route
        self.queries[timestamp, route] = query
        if (known := self._by_response.setdefault(route, query)) is not query:
            self._by_response[route] = _with(known, query)
        refusal = timestamp, query.path
        if (known := self._by_refusal.setdefault(refusal, query)) is not query:
            self._by_refusal[refusal] = _with(known, query)

    def _book(self, query: Query, branches: int) -> None:
        """Count this many further awaited neighbours."""
        self._branches += branches
        if self._is_counting:
            self._count(query, branches)

    def _count(self, query: Query, branches: int) -> None:
        self._shares.take(self._payer(query.hops[-1]), branches)
        if self._branches <= self._capacity // CALM:
            self._is_counting = False
            self._shares.clear()

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the indices are inconsistent."""
        queries = self.queries.values()
        assert self._branches == sum(len(query.open) + len(query.looked) for query in queries) <= self._capacity
        if self._is_counting:
            branches: Counter[Address] = Counter()
            for query in queries:
                branches[self._payer(query.hops[-1])] += len(query.open) + len(query.looked)
            self._shares.check_invariants(branches)
        assert _listed(self._by_response) == {(query.route, query) for query in queries}
        assert _listed(self._by_refusal) == {((query.timestamp, query.path), query) for query in queries}
        assert all(query.open or query.looked for query in queries)
        assert len(self._late) <= self._capacity
        assert len(self._wakes) <= 2 * self._capacity + 64
        deadlines = [query.deadline for query in queries]
        assert deadlines == sorted(deadlines)


# An answer hardly ever fits two queries, so an index has a query, or a list of them.


def _with(known: Query | list[Query], query: Query) -> list[Query]:
    if isinstance(known, list):
        known.append(query)
        return known
    return [known, query]


def _all(index: dict[Index, Query | list[Query]], at: Index) -> Sequence[Query]:
    known = index.get(at, ())
    return (known,) if isinstance(known, Query) else known


def _discard(index: dict[Index, Query | list[Query]], at: Index, query: Query) -> None:
    known = index[at]
    if known is query:
        del index[at]
        return
    assert isinstance(known, list)
    known.remove(query)
    if len(known) == 1:
        index[at] = known[0]


def _listed(index: dict[Index, Query | list[Query]]) -> set[tuple[Index, Query]]:
    return {(at, query) for at in index for query in _all(index, at)}


_NOBODY: frozenset[Address] = frozenset()
_NEVER: Mapping[Address, int] = {}
