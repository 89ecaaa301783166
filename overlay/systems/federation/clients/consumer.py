"""A consumer (CxC): subscriptions, what they bring, lookups and queries. ``seed 001``, sections 3 and 9."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND
from overlay.messages.errors import BadMessage
from overlay.systems.federation.clients.asking import Busy
from overlay.systems.federation.clients.events import Accepted, Answered, End, Ended, Event, Notified, Receipt, Verdict
from overlay.systems.federation.clients.live import Live, LiveSubscriptions, Wanted
from overlay.systems.federation.clients.receipts import Receipts
from overlay.systems.federation.clients.requests import Request
from overlay.systems.federation.clients.session import Session
from overlay.systems.federation.clients.terms import PATIENCE, Site, Terms
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.client_table import MAX_SUBSCRIPTIONS
from overlay.systems.federation.wire.values import (
    Advertisement,
    Notification,
    Role,
    Subscription,
    SubscriptionId,
)

_NO_NEEDS: Mapping[str, tuple[str, ...]] = {}
"""Of all consumers, which may be many."""
MOST_SUBSCRIPTIONS = 100_000
"""Live ones of a consumer."""


class Consumer(Session):
    __slots__ = ("_live", "_receipts", "_withdrawn")

    def __init__(
        self, terms: Terms, name: str, site: Site, chance: Chance, now: int, *, url: str = "", first: int = 0
    ) -> None:
        super().__init__(terms, Advertisement(name, 0, Role.CONSUMER, url, (), _NO_NEEDS), site, chance, now, first)
        self._live = LiveSubscriptions()
        self._receipts: Receipts | None = None
        self._withdrawn: dict[int, int] | None = None
        """When what was withdrawn expires, ms, until the broker knows."""

    @property
    def live(self) -> Sequence[Subscription]:
        return [one.subscription for one in self._live]

    @property
    def is_idle(self) -> bool:
        """Whether it has no live subscription and no request open."""
        return not len(self._live) and not len(self.requests)

    @property
    def is_withdrawing(self) -> bool:
        """Whether the broker may still have what was withdrawn."""
        return self._withdrawn is not None

    # ---- for its user

    def subscribe(self, wanted: Iterable[Wanted], now: int) -> list[Subscription]:
        """All or none are sent, as soon as it is registered.

        Raises ``Busy``, and ``BadMessage`` for values outside their limits or if they do not fit into one message.
        """
        self.peers.now = now
        subscriptions = [self._made(one) for one in wanted]
        if len(self._live) + len(subscriptions) > MOST_SUBSCRIPTIONS:
            raise Busy(f"a consumer may have {MOST_SUBSCRIPTIONS:,} subscriptions")
        self._tell(subscriptions, ())
        for one in subscriptions:
            live = Live(one)
            live.is_told = self.is_in
            self._live.keep(live)
        return subscriptions

    def renew(self, number: int, expires: int, now: int) -> bool:
        """Let a live subscription expire at another time, wall ms. ``False``: it is not live. Raises ``Busy``."""
        self.peers.now = now
        one = self._live.get(number)
        if one is None:
            return False
        renewed = replace(one.subscription, expires=expires)
        self._tell([renewed], ())
        one.subscription = renewed
        self._live.keep(one)
        return True

    def withdraw(self, numbers: Iterable[int], now: int) -> None:
        """Those that are not live are ignored."""
        self.peers.now = now
        ended = [one for number in numbers if (one := self._drop(number, End.WITHDRAWN)) is not None]
        gone = {one.subscription.id.number: one.subscription.expires for one in ended if one.is_told}
        if gone:
            self._withdrawn = {**(self._withdrawn or {}), **gone}
            if self.is_in:
                self._tell_all((), list(gone))

    def lookup(self, scope: str, now: int, patience: int = PATIENCE) -> int:
        """Ask for the providers of a scope. ``Answered`` has the number that is returned. Raises as ``subscribe``."""
        self.peers.now = now
        req = self.requests.draw()
        self.ask(req, m.Lookup(req, scope), now + patience)
        return req

    def query(
        self,
        scopes: Sequence[str],
        now: int,
        *,
        entity_type: str | None = None,
        entity_id: str | None = None,
        patience: int = PATIENCE,
        provider: Site | None = None,
    ) -> int:
        """Ask for context now, by way of the broker, or straight from a provider that a lookup has found.

        ``Answered`` has the number that is returned. Raises as ``subscribe``.
        """
        self.peers.now = now
        req = self.requests.draw()
        message = m.Query(req, entity_type, entity_id, tuple(scopes), patience // MILLISECOND)
        peer = None if provider is None or provider.id == self.broker else provider
        self.ask(req, message, now + patience, now + patience, peer)
        return req

    # ---- its subscriptions

    def _made(self, wanted: Wanted) -> Subscription:
        scopes, expires, expression, priority, once = wanted
        sid = SubscriptionId(self.name, self.draw_number())
        return Subscription(sid, scopes, expires, expression, priority, once)

    def _drop(self, number: int, end: End, code: m.Code = m.Code.GOOD, words: str = "") -> Live | None:
        """It is live no more. ``None``: it was not."""
        one = self._live.take(number)
        if one is not None:
            self._remembered.ended(number, end, self.peers.now)
            self.report(Ended(number, end, code, words))
        return one

    @property
    def _remembered(self) -> Receipts:
        if self._receipts is None:
            self._receipts = Receipts()
        return self._receipts

    def _tell(self, added: Sequence[Subscription], removed: Sequence[int], *, is_bounded: bool = True) -> None:
        """In one SUBSCRIBE; while it is not registered, what is live is told then."""
        req = self.requests.draw()
        message = m.Subscribe(req, tuple(added), tuple(SubscriptionId(self.name, number) for number in removed))
        if self.is_in:
            self.ask(req, message, self.peers.now + PATIENCE, is_bounded=is_bounded)
        else:
            self.peers.codec.encode(message)

    def _tell_all(self, added: Sequence[Subscription], removed: Sequence[int]) -> None:
        """In as many messages as they need. Each of them alone was in a message before."""
        if len(added) + len(removed) <= MAX_SUBSCRIPTIONS:
            try:
                self._tell(added, removed, is_bounded=False)
                return
            except BadMessage:
                if len(added) + len(removed) <= 1:
                    raise
        half, rest = len(added) // 2, len(removed) // 2
        for some, others in ((added[:half], removed[:rest]), (added[half:], removed[rest:])):
            if some or others:
                self._tell_all(some, others)

    def _resume(self) -> None:
        unanswered = self.requests.of("")
        for req, request in unanswered:
            if isinstance(request.message, m.Subscribe):
                self.requests.take(req)
        wall_ms = self._terms.wall_ms(self.peers.now)
        withdrawn = {number: expires for number, expires in (self._withdrawn or {}).items() if expires > wall_ms}
        self._withdrawn = withdrawn or None
        for one in self._live:
            one.is_told = True
        if len(self._live) or withdrawn:
            self._tell_all(self.live, list(withdrawn))
        for _, request in unanswered:
            if isinstance(request.message, m.Query):
                left_ms = max(0, request.context - self.peers.now) // MILLISECOND
                request.message = replace(request.message, left_ms=left_ms)
            if not isinstance(request.message, m.Subscribe):
                self.again(request)

    def _next_own(self) -> int | None:
        at = self._live.next_expiry()
        return None if at is None else self._terms.at_wall_ms(at)

    def _ring_own(self) -> None:
        for number in self._live.expired(self._terms.wall_ms(self.peers.now)):
            self._drop(number, End.EXPIRED)

    # ---- what comes

    def _hear(self, message: m.Message) -> None:
        if isinstance(message, m.Notify):
            self._take_notify(message)
        else:
            super()._hear(message)

    def _take_notify(self, message: m.Notify) -> None:
        notification = message.notification
        own = [number for client, number in message.satisfied if client == self.name]
        receipts = tuple(self._receive(notification, number) for number in own)
        if len(own) < len(message.satisfied):
            self.drop("foreign")
        self.report(Notified(notification, receipts, message.is_cached, message.hops))
        for number, verdict, _ in receipts:
            one = self._live.get(number)
            if verdict is Verdict.FIRST and one is not None and one.subscription.once:
                self._drop(number, End.SATISFIED)

    def _receive(self, notification: Notification, number: int) -> Receipt:
        copy = self._remembered.received(notification.id, number, self.peers.now)
        return Receipt(number, Verdict.DUPLICATE if copy > 1 else self._judge(notification, number), copy)

    def _judge(self, notification: Notification, number: int) -> Verdict:
        """Of a notification that comes for the first time."""
        one = self._live.get(number)
        if one is None:
            return self._remembered.verdict_without(number, self.peers.now)
        return Verdict.FIRST if one.is_satisfied_by(notification) else Verdict.SPURIOUS

    def _end(self, req: int, request: Request, code: m.Code, answer: Any) -> None:
        message = request.message
        if not isinstance(message, m.Subscribe):
            self.report(_answered(req, code, answer))
        elif code is m.Code.GOOD:
            for _, number in message.removed:
                (self._withdrawn or {}).pop(number, None)
            self._withdrawn = self._withdrawn or None
            self.report(Accepted(tuple(one.id.number for one in message.added)))
        elif code is m.Code.TIMEOUT:
            self._tell_late(message)
        else:
            for one in message.added:
                self._drop(one.id.number, End.REFUSED, code, answer or "")

    def _current(self, message: m.Message) -> m.Message:
        """Subscriptions as they are now. Those that have ended are withdrawn with it, or the broker would keep them."""
        if not isinstance(message, m.Subscribe):
            return message
        live = {one.id: self._live.get(one.id.number) for one in message.added}
        added = tuple([one.subscription for one in live.values() if one is not None])
        ended = [sid for sid, one in live.items() if one is None]
        return replace(message, added=added, removed=tuple(dict.fromkeys((*message.removed, *ended))))

    def _tell_late(self, message: m.Subscribe) -> None:
        """The broker has not answered; being told again changes nothing there."""
        added = [one.subscription for sid in message.added if (one := self._live.get(sid.id.number)) is not None]
        removed = [sid.number for sid in message.removed if sid.number in (self._withdrawn or ())]
        if self.is_in and (added or removed):
            self._tell_all(added, removed)

    def check_invariants(self) -> None:
        super().check_invariants()
        self._live.check_invariants()
        assert len(self._live) <= MOST_SUBSCRIPTIONS
        if self._receipts is not None:
            self._receipts.check_invariants()


def _answered(req: int, code: m.Code, answer: Any) -> Event:
    match answer:
        case m.Found(_, found):
            return Answered(req, code, found)
        case m.Answer(_, _, notifications):
            return Answered(req, code, (), notifications)
        case _:
            return Answered(req, code, words=answer if isinstance(answer, str) else "")
