"""A consumer of a workload: queries at random times, or subscriptions that last."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.core.chance import Chance
from overlay.core.node import SECOND
from overlay.journal.facts import Delivery
from overlay.systems.federation.clients.asking import Busy
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.events import Accepted, End, Ended, Event, Notified, Verdict
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.load.life import Life
from overlay.systems.federation.load.plans import ClientPlan
from overlay.systems.federation.load.shared import Shared
from overlay.systems.federation.names import consumer_name
from overlay.systems.federation.rows import Notified as NotifiedRow
from overlay.systems.federation.rows import Subscribed, row
from overlay.systems.federation.wire.messages import Code
from overlay.systems.federation.wire.values import Priority, Subscription
from overlay.systems.federation.workload import ONCE

OUTCOMES = {End.SATISFIED: "answered", End.REFUSED: "refused"}
"""All others: ``timed_out``."""


class _Open:
    """A subscription that has not ended."""

    __slots__ = ("accepted", "first", "hops", "intended", "is_cached", "sent", "subscription")

    def __init__(self, subscription: Subscription, intended: int, sent: int) -> None:
        self.subscription, self.intended, self.sent = subscription, intended, sent
        self.accepted = self.first = 0
        """When its broker accepted it, and when its first notification came; 0 if not."""
        self.is_cached = False
        self.hops = 0


class Consuming(Life[Consumer]):
    __slots__ = ("_open",)

    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        super().__init__(plan, shared, shared.asked)
        self._open: dict[int, _Open] | None = None
        """By the number of the subscription."""

    @property
    def name(self) -> str:
        return consumer_name(self.plan.number)

    @property
    def is_finished(self) -> bool:
        return self._is_done and not self._open

    def _times(self) -> Sequence[int]:
        return self.shared.asked.times

    def _born(self, chance: Chance, now: int, first: int) -> Consumer:
        terms = self.shared.terms_at(self.plan.broker)
        return Consumer(terms, self.name, self.shared.site(self.plan.broker), chance, now, first=first)

    def _arrive(self, number: int, intended: int, now: int) -> None:
        shared, workload, core = self.shared, self.shared.workload, self.core
        is_query = workload.kind == ONCE
        scope = f"s{shared.asked.scope(number)}"
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

    def _note(self, event: Event, now: int) -> None:
        match event:
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

    def _end_all(self, now: int) -> None:
        for number in list(self._open or ()):
            self._note_ended(number, None, Code.TIMEOUT, now)
