"""The synchronous mode (seed 001, section 9): LOOKUP, and QUERY as a proxy.

A query is planned (``needs``), then each scope is asked for at all local providers, or without one at the neighbours
behind which there are providers. The data of needed scopes go before a QUERY, as an ANSWER with its number: QUERY has
no field for them, and a channel keeps the order. A receiver can tell it from the answer to a query of its own by the
number: those of brokers have the highest bit, and between two brokers the lowest bit is that of the sender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from overlay.channel import Down
from overlay.core.node import MILLISECOND
from overlay.peers.peers import SessionEvent
from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.inquiry import Inquiry
from overlay.systems.federation.broker.needs import Unanswerable, plan
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.tables.registrations import LOCAL
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Entry, Found, Notification

MOST_FOUND = 64
"""Providers in a FOUND."""
MOST_ASKED = 256
"""Providers or neighbours that are asked for one scope."""
MOST_OPEN = 4_096
"""Queries to others that are not answered."""
MOST_OF_ONE = 256
"""Queries of one peer that are not answered."""
LONGEST_MS = 60_000
"""For an answer; later deadlines are brought forward."""
BROKER_BIT = 1 << 63
"""In the numbers of brokers' queries."""
_KEPT = 8
"""A neighbour gets all but this part of the time left, so that its answer is back in time."""


class _Ask(NamedTuple):
    """A QUERY to a provider or neighbour."""

    inquiry: Inquiry
    scope: str
    peer: str


class Asking:
    def __init__(self, station: Station, clients: Clients) -> None:
        self._station, self._clients = station, clients
        self._registrations = station.tables.registrations
        self._asks: dict[int, _Ask] = {}
        """By number."""
        self._inquiries: dict[str, dict[Inquiry, None]] = {}
        """By who asked."""
        self._given: dict[str, m.Answer] = {}
        """By neighbour, the data that it sent before a QUERY."""
        self._number = 0

    # ---- messages

    def lookup(self, peer: str, message: m.Lookup) -> None:
        if not self._is_neighbour(peer) and not self._clients.serves(peer, message):
            return
        if not message.req:
            self._refuse_unnumbered(peer, message)
            return
        entries = self._registrations.providers(message.scope)
        entries.sort(key=lambda entry: entry.home != self._station.name)
        found = [Found(entry.advertisement.id, entry.endpoint, entry.advertisement.url) for entry in entries]
        self._station.peers.send(peer, m.Found(message.req, tuple(found[:MOST_FOUND])))

    def query(self, peer: str, message: m.Query) -> None:
        given = self._given.pop(peer, None)
        if not self._is_neighbour(peer) and not self._clients.serves(peer, message):
            return
        if not message.req:
            self._refuse_unnumbered(peer, message)
            return
        self._trace("asked", peer, message.req, peer, ",".join(message.scopes))
        notes = given.notifications if given is not None and given.req == message.req else ()
        try:
            self._begin(peer, message, _by_scope(notes))
        except Unanswerable as error:
            self._reply(peer, m.Answer(message.req, error.code))

    def answer(self, peer: str, message: m.Answer) -> None:
        ask = self._asks.get(message.req)
        if ask is not None and ask.peer == peer:
            self._trace_ask("answered", ask, f"{ask.scope} {message.req} {message.code.name}")
            self._end(message.req, message.code, self._wanted(ask, message.notifications))
        elif self._is_neighbour(peer) and not self._is_own(message.req, peer):
            self._given = {one: data for one, data in self._given.items() if self._is_neighbour(one)}
            self._given[peer] = message
        else:
            self._station.counters["answers_late"] += 1

    def refused(self, peer: str, message: m.Nack) -> None:
        """NACK of a QUERY."""
        ask = self._asks.get(message.req)
        if ask is not None and ask.peer == peer:
            self._end(message.req, message.code or m.Code.BAD, [])

    def ring(self, number: int) -> None:
        """``Clock.ASKED``."""
        ask = self._asks[number]
        self._trace_ask("timed out", ask, f"{ask.scope} {number}")
        self._end(number, m.Code.TIMEOUT, [])

    def session(self, event: SessionEvent) -> None:
        """Queries of a peer that is gone are dropped, and those to it have failed."""
        if not isinstance(event, Down):
            return
        peer = event.peer.decode(errors="replace")
        self._given.pop(peer, None)
        for inquiry in self._inquiries.pop(peer, {}):
            self._forget(inquiry.numbers())
        for number in [number for number, ask in self._asks.items() if ask.peer == peer]:
            if number in self._asks:
                self._end(number, m.Code.NO_PROVIDER, [])

    def check_invariants(self) -> None:
        """(I8), and each open query has its deadline. Raises ``AssertionError``."""
        assert len(self._asks) <= MOST_OPEN
        numbers = [number for of in self._inquiries.values() for inquiry in of for number in inquiry.numbers()]
        assert sorted(numbers) == sorted(self._asks)
        assert all((Clock.ASKED, number) in self._station.timers for number in numbers)
        for of in self._inquiries.values():
            assert 0 < len(of) <= MOST_OF_ONE
            assert not any(inquiry.is_done for inquiry in of)

    # ---- inner

    def _refuse_unnumbered(self, peer: str, message: m.Lookup | m.Query) -> None:
        self._station.peers.refuse(peer, message, m.Code.BAD, m.UNNUMBERED)

    def _begin(self, peer: str, message: m.Query, given: dict[str, list[Notification]]) -> None:
        """Raises ``Unanswerable``."""
        if len(self._inquiries.get(peer, ())) >= MOST_OF_ONE:
            raise Unanswerable(m.Code.LIMIT)
        if not message.left_ms:
            raise Unanswerable(m.Code.TIMEOUT)
        given = {scope: notes for scope, notes in given.items() if scope not in message.scopes}
        steps = plan(message.scopes, given, lambda scope, is_met: self._needs(scope, peer, is_met))
        deadline = self._station.now + min(message.left_ms, LONGEST_MS) * MILLISECOND
        inquiry = Inquiry(peer, message, deadline, steps, given)
        self._inquiries.setdefault(peer, {})[inquiry] = None
        self._go_on(inquiry)

    def _go_on(self, inquiry: Inquiry) -> None:
        while (scope := inquiry.take_next()) is not None:
            self._ask(inquiry, scope)
        if inquiry.is_done:
            of_peer = self._inquiries[inquiry.peer]
            del of_peer[inquiry]
            if not of_peer:
                del self._inquiries[inquiry.peer]
            self._reply(inquiry.peer, inquiry.reply())

    def _reply(self, peer: str, answer: m.Answer) -> None:
        self._trace("replied", peer, answer.req, peer, answer.code.name)
        if not self._station.peers.send(peer, answer):
            self._station.peers.send(peer, m.Answer(answer.req, m.Code.LIMIT))  # too large, or the peer is gone

    def _ask(self, inquiry: Inquiry, scope: str) -> None:
        now = self._station.now
        share = inquiry.share(scope, now)
        numbers, failure = [], inquiry.failure(scope)
        for target in self._targets(scope, inquiry.peer, inquiry.has)[1][:MOST_ASKED]:
            if len(self._asks) >= MOST_OPEN:
                failure = m.Code.LIMIT
                break
            number = self._next_number(target)
            if self._send(target, number, inquiry, scope, share):
                self._asks[number] = ask = _Ask(inquiry, scope, target)
                self._trace_ask("asks", ask, f"{scope} {number} {len(inquiry.needed(scope))}")
                self._station.set_timer(Clock.ASKED, number, now + share)
                numbers.append(number)
        inquiry.asked(scope, numbers, failure)

    def _send(self, target: str, number: int, inquiry: Inquiry, scope: str, share: int) -> bool:
        peers, query = self._station.peers, inquiry.query
        needed = inquiry.needed(scope)
        left = share - share // _KEPT if self._is_neighbour(target) else share
        if needed and not peers.send(target, m.Answer(number, m.Code.GOOD, needed)):
            return False
        return peers.send(
            target, m.Query(number, query.entity_type, query.entity_id, (scope,), max(1, left // MILLISECOND))
        )

    def _end(self, number: int, code: m.Code, notes: list[Notification]) -> None:
        """One that was asked has answered, or will not."""
        inquiry, scope, _ = self._asks[number]
        needless = inquiry.answered(scope, number, code, notes)
        self._forget([number, *needless])
        self._go_on(inquiry)

    def _trace_ask(self, step: str, ask: _Ask, detail: str) -> None:
        self._trace(step, ask.inquiry.peer, ask.inquiry.query.req, ask.peer, detail)

    def _trace(self, step: str, asker: str, req: int, peer: str, detail: str) -> None:
        station = self._station
        if station.tracer is not None:
            arrived = station.arrived if step in ("asked", "answered") else station.now
            station.tracer.query(step, asker, req, peer, arrived, station.now, detail)

    def _forget(self, numbers: list[int]) -> None:
        for number in numbers:
            del self._asks[number]
            self._station.cancel(Clock.ASKED, number)

    def _wanted(self, ask: _Ask, notes: tuple[Notification, ...]) -> list[Notification]:
        """Those that the query asked for. A provider only has notifications of its own."""
        query, now_ms = ask.inquiry.query, self._station.peers.wall_ms
        good = [
            note
            for note in notes
            if note.scope == ask.scope
            and query.entity_type in (None, note.entity_type)
            and query.entity_id in (None, note.entity_id)
            and note.expires > now_ms
            and (self._is_neighbour(ask.peer) or note.id.provider == ask.peer)
        ]
        self._station.counters["answers_wrong"] += len(notes) - len(good)
        return good

    def _needs(self, scope: str, asker: str, is_met: Callable[[Iterable[str]], bool]) -> list[str] | None:
        entries, _ = self._targets(scope, asker, is_met)
        return [need for entry in entries for need in entry.advertisement.needs.get(scope, ())] if entries else None

    def _targets(
        self, scope: str, asker: str, is_met: Callable[[Iterable[str]], bool]
    ) -> tuple[list[Entry], list[str]]:
        """The providers that are asked, and whom: themselves if they are local, otherwise neighbours. Those of which
        not all needs are met are left out.
        """
        table = self._registrations
        entries = [
            entry
            for entry in table.providers(scope)
            if entry.advertisement.id != asker and is_met(entry.advertisement.needs.get(scope, ()))
        ]
        local = [entry for entry in entries if table.local(entry.advertisement.id)]
        if local:
            return local, [entry.advertisement.id for entry in local]
        remote, hops = [], dict[str, None]()
        for entry in entries:
            hop = min((hop for hop in table.next_hops(entry.advertisement.id) if hop not in (LOCAL, asker)), default="")
            if hop:
                remote.append(entry)
                hops[hop] = None
        return remote, list(hops)

    def _is_neighbour(self, peer: str) -> bool:
        return peer in self._registrations.neighbours

    def _is_own(self, number: int, peer: str) -> bool:
        """Whether this broker has given the number, not the other one."""
        return bool(number & 1) == (self._station.name > peer)

    def _next_number(self, peer: str) -> int:
        """Numbers rise over restarts, so that old answers meet no new query."""
        self._number = max(self._number + 1, self._station.peers.wall_ms * 1_000)
        return BROKER_BIT | self._number << 1 | (self._station.name > peer)


def _by_scope(notes: tuple[Notification, ...]) -> dict[str, list[Notification]]:
    found: dict[str, list[Notification]] = {}
    for note in notes:
        found.setdefault(note.scope, []).append(note)
    return found
