"""Requests sent on and not answered yet: what a Response or NACK must match, and where it then goes back to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

from overlay.addresses import Address
from overlay.broker.extensions import Lookahead, QuietRequest
from overlay.broker.messages import ContextRequest, Hops, Key, Status

Index = TypeVar("Index", bound=Hashable)

Name = tuple[Address, int, Key]
"""What names a query everywhere: its consumer, its timestamp, and what it asks for."""


def name_of(request: ContextRequest | Lookahead, source: Address) -> Name:
    return request.hops[0] if request.hops else source, request.timestamp, request.key


class Query:
    """A request that is looked for beyond this broker. ``hops`` are as sent: the consumer first, its sender last."""

    __slots__ = (
        "deadline",
        "hops",
        "is_lookahead",
        "is_quiet",
        "key",
        "looked",
        "moves",
        "open",
        "status",
        "timestamp",
        "tried",
        "wake",
    )

    def __init__(self, request: ContextRequest | Lookahead, source: Address, deadline: int) -> None:
        self.timestamp = request.timestamp
        self.key = request.key
        self.hops: Hops = (*request.hops, source)
        self.is_lookahead = isinstance(request, Lookahead)
        self.is_quiet = self.is_lookahead or isinstance(request, QuietRequest)
        self.deadline = deadline
        self.moves = 0
        """How many moves the strategy has made."""
        self.open: dict[Address, bool] = {}
        """Neighbours that were asked and have neither answered nor refused; ``False`` where they may never have heard.
        """
        self.tried: frozenset[Address] = frozenset()
        """Neighbours that were asked."""
        self.looked: frozenset[Address] = frozenset()
        """Neighbours that were sent a Lookahead."""
        self.wake: int | None = None
        """When to decide anew if nothing has come by then."""
        self.status: int = Status.DATA_NOT_FOUND
        """What a refusal will say: the first of another kind, if there was one."""

    @property
    def is_waiting(self) -> bool:
        """Whether somebody is still expected to answer or to refuse."""
        return any(self.open.values())

    @property
    def name(self) -> Name:
        return self.hops[0], self.timestamp, self.key


class Pending:
    """A bounded table of queries. All wait equally long, so the order of arrival is the order of deadlines.

    A Response does not carry its query's timestamp and a NACK not its entity: hence an index for each. Two queries that
    agree in all that an answer shows are answered in their order.
    """

    def __init__(
        self, capacity: int, deadline_ns: int, on_expired: Callable[[Query, int], None] = lambda query, now: None
    ) -> None:
        """``on_expired`` is told of each query that waited until its deadline, and of the time."""
        self._capacity = capacity
        self._deadline_ns = deadline_ns
        self._on_expired = on_expired
        self._branches = 0
        self._queries: OrderedDict[tuple[bool, Hops, int, Key], Query] = OrderedDict()
        self._by_response: dict[tuple[Address, Hops, Key], list[Query]] = {}
        self._by_refusal: dict[tuple[Address, Hops, int], list[Query]] = {}
        self._late: OrderedDict[tuple[Address, Hops, Hashable], int] = OrderedDict()
        """What still may answer a query that is settled, and until when; told apart from what belongs to nothing."""
        self._wakes: list[tuple[int, int, Query]] = []
        self._wake_count = 0
        self.expired = 0
        """How many waited until their deadline, ever."""

    def __len__(self) -> int:
        return len(self._queries)

    def has_room(self, now: int, branches: int = 1) -> bool:
        """Whether so many more neighbours can be waited for."""
        self.expire(now)
        return self._branches + branches <= self._capacity

    def holds(self, request: ContextRequest, source: Address, now: int) -> bool:
        """Whether a request identical in source, timestamp, entity, scope and hops still waits."""
        if not self._queries:
            return False
        self.expire(now)
        return (False, (*request.hops, source), request.timestamp, request.key) in self._queries

    def begin(self, request: ContextRequest | Lookahead, source: Address, now: int) -> Query:
        """A query that is not in the table before somebody is asked; it takes the place of one that is identical."""
        query = Query(request, source, now + self._deadline_ns)
        known = self._queries.get(_identity(query))
        if known is not None:  # a wider Lookahead of the same query, on the same path
            self.remove(known)
        return query

    def ask(self, query: Query, neighbours: Sequence[Address]) -> None:
        """The request is about to be sent to these, none of which was asked before."""
        self._put(query)
        for neighbour in neighbours:
            query.open[neighbour] = True
            self._by_refusal.setdefault((neighbour, query.hops, query.timestamp), []).append(query)
            if neighbour not in query.looked:
                self._by_response.setdefault((neighbour, query.hops, query.key), []).append(query)
        self._branches += len(neighbours)
        query.tried = query.tried.union(neighbours)

    def look(self, query: Query, neighbours: Sequence[Address], wake: int | None = None) -> None:
        """A Lookahead is about to be sent to these; at ``wake`` the query is one of ``due``."""
        self._put(query)
        for neighbour in neighbours:
            if neighbour not in query.looked and neighbour not in query.open:
                self._by_response.setdefault((neighbour, query.hops, query.key), []).append(query)
        self._branches += len(set(neighbours) - query.looked)
        query.looked = query.looked.union(neighbours)
        query.wake = wake
        if wake is not None:
            self._wake_count += 1
            heappush(self._wakes, (wake, self._wake_count, query))
            if len(self._wakes) > 2 * len(self._queries) + 64:  # queries that were answered before
                self._wakes = [item for item in self._wakes if item[2].wake == item[0]]
                heapify(self._wakes)

    def take_answered(self, source: Address, hops: Hops, key: Key, now: int) -> Query | None:
        """The query that a Response answers, no longer pending."""
        self.expire(now)
        matching = self._by_response.get((source, hops, key))
        if not matching:
            return None
        query = matching[0]
        self.remove(query, but=source)
        return query

    def take_refused(self, source: Address, hops: Hops, timestamp: int, now: int) -> Query | None:
        """The query that a NACK refuses, which waits for ``source`` no longer."""
        self.expire(now)
        matching = self._by_refusal.get((source, hops, timestamp))
        if not matching:
            return None
        query = matching[0]
        self._close(query, source)
        return query

    def is_late(self, source: Address, hops: Hops, told: Key | int) -> bool:
        """Whether this answers a query that was settled without it. ``told`` is a Response's key or a NACK's stamp."""
        return self._late.pop((source, hops, told), None) is not None

    def asked_of(self, neighbour: Address) -> list[Query]:
        """The queries that wait for a neighbour's answer."""
        return [query for query in self._queries.values() if neighbour in query.open]

    def doubt(self, query: Query, neighbour: Address) -> bool:
        """Expect nothing of this neighbour, and yet take what it says; ``False`` where that is settled."""
        if not query.open.get(neighbour, False) or self._queries.get(_identity(query)) is not query:
            return False
        query.open[neighbour] = False
        return True

    def remove(self, query: Query, but: Address | None = None) -> None:
        """The query is settled. What others than ``but`` still say to it is late."""
        if self._queries.pop(_identity(query), None) is None:
            return
        for neighbour in query.looked.union(query.open):
            _discard(self._by_response, (neighbour, query.hops, query.key), query)
        for neighbour in query.open:
            _discard(self._by_refusal, (neighbour, query.hops, query.timestamp), query)
        for neighbour in query.looked.union(query.open):
            if neighbour != but or (neighbour in query.looked and neighbour in query.open):
                self._late[neighbour, query.hops, query.key] = query.deadline
                self._late[neighbour, query.hops, query.timestamp] = query.deadline
        self._branches -= len(query.open) + len(query.looked)
        query.wake = None
        while len(self._late) > self._capacity:
            self._late.popitem(last=False)

    def expire(self, now: int) -> None:
        """Forget what waited until its deadline."""
        while self._queries and (query := next(iter(self._queries.values()))).deadline <= now:
            self.remove(query)
            self.expired += 1
            self._on_expired(query, now)
        while self._late and next(iter(self._late.values())) <= now:
            self._late.popitem(last=False)

    def due(self, now: int) -> list[Query]:
        """The queries whose wait is over by now; each is told of once."""
        due = []
        while self._wakes and self._wakes[0][0] <= now:
            wake, _, query = heappop(self._wakes)
            if query.wake == wake:
                query.wake = None
                due.append(query)
        return due

    def next_timer(self) -> int | None:
        deadline = next(iter(self._queries.values())).deadline if self._queries else None
        while self._wakes and self._wakes[0][2].wake != self._wakes[0][0]:
            heappop(self._wakes)
        if not self._wakes:
            return deadline
        return self._wakes[0][0] if deadline is None else min(deadline, self._wakes[0][0])

    def _put(self, query: Query) -> None:
        """Queries that are put in later wait longer, as their deadlines count from when they began."""
        self._queries.setdefault(_identity(query), query)

    def _close(self, query: Query, neighbour: Address) -> None:
        del query.open[neighbour]
        self._branches -= 1
        _discard(self._by_refusal, (neighbour, query.hops, query.timestamp), query)
        if neighbour not in query.looked:
            _discard(self._by_response, (neighbour, query.hops, query.key), query)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the indices disagree."""
        queries = self._queries.values()
        assert self._branches == sum(len(query.open) + len(query.looked) for query in queries) <= self._capacity
        assert sum(len(query.looked.union(query.open)) for query in queries) == sum(
            map(len, self._by_response.values())
        )
        assert sum(len(query.open) for query in queries) == sum(map(len, self._by_refusal.values()))
        assert all(query.open or query.looked for query in queries)
        assert all(self._by_response.values())
        assert all(self._by_refusal.values())
        assert len(self._late) <= self._capacity
        assert len(self._wakes) <= 2 * self._capacity + 64
        deadlines = [query.deadline for query in queries]
        assert deadlines == sorted(deadlines)


def _identity(query: Query) -> tuple[bool, Hops, int, Key]:
    return query.is_lookahead, query.hops, query.timestamp, query.key


def _discard(index: dict[Index, list[Query]], at: Index, query: Query) -> None:
    queries = index[at]
    queries.remove(query)
    if not queries:
        del index[at]
