"""A consumer of a workload: queries at random times, as subscriptions or by QUERY, or subscriptions that last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overlay.core.chance import Chance
from overlay.core.node import SECOND
from overlay.journal.facts import Delivery
from overlay.systems.federation.clients.asking import Busy
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.events import Accepted, Answered, End, Ended, Event, Notified, Verdict
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.load.life import Life
from overlay.systems.federation.load.plans import ClientPlan
from overlay.systems.federation.load.shared import Shared
from overlay.systems.federation.names import consumer_name, scope_name
from overlay.systems.federation.rows import Notified as NotifiedRow
from overlay.systems.federation.rows import Queried, Subscribed, row
from overlay.systems.federation.wire.messages import Code
from overlay.systems.federation.wire.values import Notification, Priority, Subscription
from overlay.systems.federation.workload import ONCE

OUTCOMES = {End.SATISFIED: "answered", End.REFUSED: "refused"}
"""All others: ``timed_out``."""
ANSWERED = {Code.GOOD: "answered", Code.TIMEOUT: "timed_out"}
"""Of a QUERY; all others: ``refused``."""


class _Open:
    """A subscription that has not ended."""

    __slots__ = ("accepted", "first", "hops", "intended", "is_cached", "sent", "subscription")

    def __init__(self, subscription: Subscription, intended: int, sent: int) -> None:
        self.subscription, self.intended, self.sent = subscription, intended, sent
        self.accepted = self.first = 0
        """When its broker accepted it, and when its first notification came; 0 if not."""
        self.is_cached = False
        self.hops = 0


class _Asked(NamedTuple):
    """A QUERY that has not ended."""

    number: int
    """Among the queries of the run."""
    scope: str
    intended: int
    sent: int
    deadline: int


class Consuming(Life[Consumer]):
    __slots__ = ("_asked", "_open")

    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        super().__init__(plan, shared, shared.asked)
        self._open: dict[int, _Open] | None = None
        """By the number of the subscription."""
        self._asked: dict[int, _Asked] | None = None
        """QUERYs without an answer, by their number in messages."""

    @property
    def name(self) -> str:
        return consumer_name(self.plan.number)

    @property
    def is_finished(self) -> bool:
        return self._is_done and not self._open and not self._asked

    def _times(self) -> Sequence[int]:
        return self.shared.asked.times

    def _born(self, chance: Chance, now: int, first: int) -> Consumer:
        terms = self.shared.terms_at(self.plan.broker)
        return Consumer(terms, self.name, self.shared.site(self.plan.broker), chance, now, first=first)

    def _arrive(self, number: int, intended: int, now: int) -> None:
        shared, workload, core = self.shared, self.shared.workload, self.core
        if shared.asked.is_query(number):
            self._ask(number, intended, now)
            return
        is_query = workload.kind == ONCE
        scope = scope_name(shared.asked.scope(number))
        if is_query:
            shared.tally.started(now - intended)
        expires = shared.terms.wall_ms(intended + round(workload.expiry_s * SECOND))
        priority = Priority.LOW if shared.asked.is_low(number) else Priority.NORMAL
        try:
            if core is None or self._away:
                raise Busy("it has vanished")
            (one,) = core.subscribe([Wanted((scope,), expires, priority=priority, once=is_query)], now)
        except Busy:
            at = (shared.us(intended), shared.us(now), expires)
            self._report(
                row(at[1], Subscribed(self.name, 0, [scope], is_query, *at, 0, 0, False, 0, at[1], str(End.REFUSED)))
            )
            if is_query:
                self._sample("refused", Code.LIMIT, 0, intended, now, now, f"|{scope}", 0)
            return
        if self._open is None:
            self._open = {}
        self._open[one.id.number] = _Open(one, intended, now)

    def _ask(self, number: int, intended: int, now: int) -> None:
        """By QUERY: any entity of the scope, as long as a subscription would wait."""
        shared = self.shared
        shared.tally.started(now - intended)
        deadline = intended + round(shared.workload.expiry_s * SECOND)
        one = _Asked(number, scope_name(shared.asked.scope(number)), intended, now, deadline)
        try:
            if self.core is None or self._away:
                raise Busy("it has vanished")
            req = self.core.query((one.scope,), now, patience=max(0, deadline - now))
        except Busy:
            self._report_query(0, one, Code.LIMIT, (), now)
            return
        if self._asked is None:
            self._asked = {}
        self._asked[req] = one

    def _note(self, event: Event, now: int) -> None:
        match event:
            case Answered(req, code, _, notifications):
                self._note_answered(req, code, notifications, now)
            case Accepted(numbers):
                for number in numbers:
                    one = (self._open or {}).get(number)
                    if one is not None and not one.accepted:
                        one.accepted = now
            case Notified():
                self._note_notified(event, now)
            case Ended(number, end, code):
                self._note_ended(number, end, code, now)

    def _note_notified(self, event: Notified, now: int) -> None:
        us, counters = self.shared.us, self.shared.tally.counters
        nid, received = event.notification.id, us(now)
        for number, verdict, _ in event.receipts or ((0, Verdict.SPURIOUS, 1),):
            one = (self._open or {}).get(number)
            if verdict is Verdict.FIRST and one is not None and not one.first:
                one.first, one.is_cached, one.hops = now, event.is_cached, event.hops
            counters[verdict] = counters.get(verdict, 0) + 1
            told = NotifiedRow(self.name, number, nid.provider, nid.number, received, event.is_cached, event.hops)
            self._report(row(received, told))
        copy = min((receipt.copy for receipt in event.receipts), default=1)
        published = self.shared.terms.at_wall_ms(event.notification.timestamp)
        self._report(
            Delivery(
                *self.identity,
                self.broker_index,
                self.shared.phase(published),
                f"{nid.provider}|{nid.number}",
                us(published),
                received,
                copy,
            )
        )

    def _note_ended(self, number: int, end: End | None, code: Code, now: int) -> None:
        """``end`` is ``None`` if it will not be known."""
        one = None if self._open is None else self._open.pop(number, None)
        if one is None:
            return
        self._open = self._open or None
        us, subscription = self.shared.us, one.subscription
        at = (us(one.intended), us(one.sent), subscription.expires)
        first = us(one.first) if one.first else 0
        accepted = us(one.accepted) if one.accepted else 0
        ended, reason = (0, "") if end is None else (us(now), str(end))
        told = Subscribed(
            self.name, number, list(subscription.scopes), subscription.once, *at, accepted, first, one.is_cached,
            one.hops, ended, reason,
        )  # fmt: skip
        self._report(row(us(now), told))
        if subscription.once:
            outcome = "timed_out" if end is None else OUTCOMES.get(end, "timed_out")
            over = now if end is not None else max(now, one.sent)
            entity = f"{number}|{subscription.scopes[0]}"
            self._sample(outcome, code, 1, one.intended, one.sent, over, entity, subscription.expires)

    def _note_answered(
        self, req: int, code: Code, notes: Sequence[Notification], now: int, *, ended: bool = True
    ) -> None:
        one = None if self._asked is None else self._asked.pop(req, None)
        if one is not None:
            self._asked = self._asked or None
            self._report_query(req, one, code, notes, now, ended=ended)

    def _report_query(
        self, req: int, one: _Asked, code: Code, notes: Sequence[Notification], now: int, *, ended: bool = True
    ) -> None:
        us = self.shared.us
        times = us(one.intended), us(one.sent), us(one.deadline), us(now) if ended else 0
        named = [f"{note.id.provider}|{note.id.number}" for note in notes]
        self._report(row(us(now), Queried(self.name, one.number, req, [one.scope], *times, int(code), named)))
        outcome = ANSWERED.get(code, "refused")
        until = self.shared.terms.wall_ms(one.deadline)
        over = max(now, one.sent)
        self._sample(outcome, code, 1 if req else 0, one.intended, one.sent, over, f"{one.number}|{one.scope}", until)

    def _end_all(self, now: int) -> None:
        for number in list(self._open or ()):
            self._note_ended(number, None, Code.TIMEOUT, now)
        for req in list(self._asked or ()):
            self._note_answered(req, Code.TIMEOUT, (), now, ended=False)
