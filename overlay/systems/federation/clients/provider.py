"""A provider (CxP): what is asked of it, and publishing (seed 001, sections 3 and 9; details, section 2).

::

    OFFER ──> watched ── a query (once): produce, wait ``delay`` ──> PUBLISH with the ids that it satisfies (M_ν)
    QUERY ──> produce, wait ``delay`` ──> ANSWER
    QUERY ──> Queried ── ``answer``, of one that answers later ──> ANSWER
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND
from overlay.core.timers import earliest
from overlay.messages.errors import BadMessage, Reason
from overlay.systems.federation.clients.asking import Busy
from overlay.systems.federation.clients.events import Offered, Published, PublishEnded, Queried, Replied
from overlay.systems.federation.clients.requests import Request
from overlay.systems.federation.clients.session import Session
from overlay.systems.federation.clients.terms import PATIENCE, Site, Terms
from overlay.systems.federation.language.conjunctions import fixed_entity
from overlay.systems.federation.language.conjunctions import terms as terms_of
from overlay.systems.federation.matching.index import Index
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.notes import encoded
from overlay.systems.federation.wire.values import (
    Advertisement,
    Data,
    Notification,
    NotificationId,
    Publication,
    Role,
    Subscription,
    SubscriptionId,
)

MOST_WATCHED = 100_000
"""Subscriptions of a provider."""
MOST_NAMED = 512
"""Ids in a PUBLISH. They are a hint: brokers evaluate every notification themselves."""
MOST_STORED, MOST_STORED_BYTES = 1_000, 1 << 20
"""Of what it has published while it has no broker."""
MOST_DELAYED = 10_000
"""Notifications that wait to be published."""
MOST_QUESTIONS = 1_000
"""Questions that wait for ``answer``, as long as their askers do."""


class Content(NamedTuple):
    """What a notification says."""

    entity_type: str
    entity_id: str
    scope: str
    expires: int
    """Unix ms."""
    data: Data
    timestamp: int | None = None
    """Unix ms; None is now."""


class Asked(NamedTuple):
    """What is wanted."""

    scope: str
    entity_type: str | None
    """None is any."""
    entity_id: str | None
    wall_ms: int
    """Now."""
    needed: tuple[Notification, ...] = ()
    """Of the scopes that this one needs, as it was registered."""


class _Reply(NamedTuple):
    """An answer that is made, and not sent yet."""

    at: int
    event: Replied


Produce = Callable[[Asked], Content | None]
"""None: it has no such context."""


class _Made(NamedTuple):
    at: int
    """When it is published."""
    notification: Notification
    queries: tuple[SubscriptionId, ...]
    """For which it was made."""


class _Question(NamedTuple):
    """Waits for ``answer``."""

    asker: str
    req: int
    until: int
    """The asker waits no longer (ns)."""


class Provider(Session):
    """``produce``: answers queries and offered once-subscriptions; without it, its user publishes.

    ``answers_later``: without ``produce``, its user answers queries as well (``Queried``, ``answer``).
    """

    __slots__ = ("_delay", "_made", "_needed", "_produce", "_questions", "_replies", "_watched")

    def __init__(
        self,
        terms: Terms,
        me: Advertisement,
        site: Site,
        chance: Chance,
        now: int,
        *,
        produce: Produce | None = None,
        delay: int = 0,
        answers_later: bool = False,
        first: int = 0,
    ) -> None:
        """``delay``: ns from being asked until what is produced is sent."""
        super().__init__(terms, replace(me, role=Role.PROVIDER), site, chance, now, first)
        self._produce, self._delay = produce, delay
        self._needed: m.Answer | None = None
        """The data for the next QUERY of the broker."""
        self._questions: dict[int, _Question] | None = {} if answers_later else None
        """By number."""
        self._watched: Index[None] | None = None
        self._made: deque[_Made] | None = None
        """In the order of their instants."""
        self._replies: deque[_Reply] | None = None
        """Likewise."""

    @property
    def watched(self) -> list[Subscription]:
        """What the broker has offered and not withdrawn."""
        return [row.subscription for row in self._watched or ()]

    @property
    def is_idle(self) -> bool:
        """Whether it has nothing to publish and no request open."""
        return not self._made and not self._replies and not len(self.requests)

    def publish(self, content: Content, now: int) -> Notification:
        """Under a new number, as soon as it is registered.

        Raises ``Busy``, and ``BadMessage`` for values outside their limits and for a scope that it has not registered.
        """
        self.peers.now = now
        if content.scope not in self._me.scopes:
            raise BadMessage(Reason.RANGE, f"{self.name} has not registered the scope {content.scope}")
        notification = self._notification(content)
        self._publish(notification)
        if not self.is_in:
            self._make_room()
        return notification

    def answer(self, number: int, contents: Iterable[Content | Notification], now: int) -> None:
        """A question of ``Queried``; without contents: it has none. Values outside their limits: LIMIT. A notification
        that it has published keeps its number.
        """
        self.peers.now = now
        if self._questions is not None and number in self._questions:
            question = self._questions.pop(number)
            made = [one if isinstance(one, Notification) else self._notification(one) for one in contents]
            self._send_answer(question.asker, question.req, made)

    # ---- publishing

    def _notification(self, content: Content) -> Notification:
        kind, entity, scope, expires, data, timestamp = content
        number = NotificationId(self.name, self.draw_number())
        at = self._terms.wall_ms(self.peers.now) if timestamp is None else timestamp
        return Notification(number, kind, entity, scope, at, expires, data)

    def _publish(self, notification: Notification) -> None:
        named = [] if self._watched is None else self._watched.match(notification)[:MOST_NAMED]
        queries = [row.subscription.id for row in named if row.subscription.once]
        sids = tuple(row.subscription.id for row in named)
        req = self.requests.draw()
        until = max(self._terms.at_wall_ms(notification.expires), self.peers.now + PATIENCE)
        try:
            self.ask(req, m.Publish(req, (Publication(notification, sids),)), until)
        except BadMessage as error:
            if error.reason is not Reason.SIZE or not sids:
                raise
            sids = ()
            self.ask(req, m.Publish(req, (Publication(notification),)), until)
        self.report(Published(notification, sids))
        for sid in queries:
            self._unwatch(sid)

    def _make_room(self) -> None:
        """Without a broker it stores what it publishes: the expired ones go first, then the oldest."""
        wall_ms = self._terms.wall_ms(self.peers.now)
        stored = [(req, request, request.message.publications[0].notification) for req, request in self.requests.of("")]
        sizes = [len(encoded(notification)) for _, _, notification in stored]
        number, size = len(stored), sum(sizes)
        by_age = sorted(zip(stored, sizes, strict=True), key=lambda one: one[0][2].expires > wall_ms)
        for (req, request, _), bytes_of_it in by_age:
            if number <= MOST_STORED and size <= MOST_STORED_BYTES:
                return
            self.requests.take(req)
            self.drop("stored")
            self._end(req, request, m.Code.LIMIT, "More was published than is stored without a broker.")
            number, size = number - 1, size - bytes_of_it

    def _unwatch(self, sid: SubscriptionId) -> None:
        if self._watched is not None:
            self._watched.remove(sid, None)
            if not len(self._watched):
                self._watched = None

    def _next_own(self) -> int | None:
        made, reply = (self._made[0].at if self._made else None), (self._replies[0].at if self._replies else None)
        at = earliest(made, reply)
        expiry = None if self._watched is None else self._watched.next_expiry()
        if expiry is None:
            return at
        expires = self._terms.at_wall_ms(expiry)
        return expires if at is None or expires < at else at

    def _ring_own(self) -> None:
        if self._watched is not None:
            self._watched.expire(self._terms.wall_ms(self.peers.now))
            if not len(self._watched):
                self._watched = None
        while self._made and self._made[0].at <= self.peers.now:
            made = self._made.popleft()
            if self._watched is not None and any(self._watched.get(sid) for sid in made.queries):
                try:
                    self._publish(made.notification)
                except (Busy, BadMessage):
                    self.drop("unpublished")
        self._made = self._made or None
        while self._replies and self._replies[0].at <= self.peers.now:
            self._reply(self._replies.popleft().event)
        self._replies = self._replies or None

    # ---- what is asked

    def _forget(self) -> None:
        self._watched = self._made = self._needed = None

    def _resume(self) -> None:
        for _, request in self.requests.of(""):
            self.again(request)

    def _hear(self, message: m.Message) -> None:
        match message:
            case m.Offer(added, withdrawn):
                self._take_offer(added, withdrawn)
            case m.Answer():
                self._needed = message
            case m.Query(req):
                needed, self._needed = self._needed, None
                is_for_it = needed is not None and needed.req == req
                self._take_query(self.broker, message, needed.notifications if needed and is_for_it else ())
            case _:
                super()._hear(message)

    def _hear_other(self, peer: str, message: m.Message) -> None:
        if isinstance(message, m.Query):
            self._take_query(peer, message, ())
        else:
            super()._hear_other(peer, message)

    def _take_offer(self, added: tuple[Subscription, ...], withdrawn: tuple[SubscriptionId, ...]) -> None:
        for sid in withdrawn:
            self._unwatch(sid)
        answered = self._answered()
        new = [one for one in added if not (one.once and one.id in answered)]
        for one in new:
            if self._watched is None:
                self._watched = Index()
            if len(self._watched) >= MOST_WATCHED and self._watched.get(one.id) is None:
                self.drop("watched")
            else:
                self._watched.add(one, None)
        self.report(Offered(tuple(new), withdrawn))
        if self._produce is not None:
            self._make([one for one in new if one.once], self._produce)

    def _answered(self) -> set[SubscriptionId]:
        """The queries in notifications that the broker has not accepted yet."""
        requests = [request.message for _, request in self.requests.of("")]
        publications = [one for message in requests if isinstance(message, m.Publish) for one in message.publications]
        return {sid for publication in publications for sid in publication.satisfied}

    def _make(self, queries: Iterable[Subscription], produce: Produce) -> None:
        """One notification for all queries that want the same."""
        alike: dict[tuple[str, str | None], list[SubscriptionId]] = {}
        for query in queries:
            scope = next((scope for scope in query.scopes if scope in self._me.scopes), None)
            if scope is not None:
                fixed = fixed_entity(terms_of(query.expression))
                alike.setdefault((scope, None if fixed is None else fixed[0]), []).append(query.id)
        for (scope, entity), sids in alike.items():
            content = produce(Asked(scope, None, entity, self._terms.wall_ms(self.peers.now)))
            if content is not None:
                self._delayed(_Made(self.peers.now + self._delay, self._notification(content), tuple(sids)))
        self._ring_own()

    def _delayed(self, made: _Made) -> None:
        if self._made is None:
            self._made = deque()
        if len(self._made) >= MOST_DELAYED:
            self.drop("delayed")
        else:
            self._made.append(made)

    def _take_query(self, peer: str, query: m.Query, needed: tuple[Notification, ...]) -> None:
        if not query.req:
            self.peers.refuse(peer, query, m.Code.BAD, m.UNNUMBERED)
            return
        wall_ms, produce = self._terms.wall_ms(self.peers.now), self._produce
        entity = query.entity_type, query.entity_id
        scopes = tuple(scope for scope in query.scopes if scope in self._me.scopes)
        if self._questions is not None and scopes:
            self._keep(peer, query, scopes, needed)
            return
        if produce is None:
            self._send_answer(peer, query.req, ())
            return
        made = [produce(Asked(scope, *entity, wall_ms, needed)) for scope in scopes]
        notes = tuple([self._notification(content) for content in made if content is not None])
        now, code = self.peers.now, m.Code.GOOD if notes else m.Code.NO_PROVIDER
        reply = Replied(peer, query.req, now, code, notes)
        if not self._delay:
            self._reply(reply)
        elif len(self._replies or ()) >= MOST_DELAYED:
            self._reply(reply._replace(code=m.Code.LIMIT, notifications=()))
        else:
            self._replies = deque() if self._replies is None else self._replies
            self._replies.append(_Reply(now + self._delay, reply))

    def _reply(self, reply: Replied) -> None:
        if self.peers.send(reply.asker, m.Answer(reply.req, reply.code, reply.notifications)):
            self.report(reply)
        else:
            self.peers.send(reply.asker, m.Answer(reply.req, m.Code.LIMIT))

    def _keep(self, peer: str, query: m.Query, scopes: tuple[str, ...], needed: tuple[Notification, ...]) -> None:
        """Until it is answered. Without room, those go for which no one waits any more: a user need not answer."""
        assert self._questions is not None
        now = self.peers.now
        if len(self._questions) >= MOST_QUESTIONS:
            self._questions = {number: one for number, one in self._questions.items() if one.until > now}
        if len(self._questions) >= MOST_QUESTIONS:
            self.peers.send(peer, m.Answer(query.req, m.Code.LIMIT))
            return
        number = self.draw_number()
        self._questions[number] = _Question(peer, query.req, now + query.left_ms * MILLISECOND)
        self.report(Queried(number, scopes, query.entity_type, query.entity_id, query.left_ms, needed))

    def _send_answer(self, peer: str, req: int, notifications: Sequence[Notification]) -> None:
        code = m.Code.GOOD if notifications else m.Code.NO_PROVIDER
        if not self.peers.send(peer, m.Answer(req, code, tuple(notifications))):
            self.peers.send(peer, m.Answer(req, m.Code.LIMIT))

    def _end(self, req: int, request: Request, code: m.Code, answer: Any) -> None:
        words = answer if isinstance(answer, str) else ""
        for publication in request.message.publications:
            self.report(PublishEnded(publication.notification.id, code, request.tries, words))

    def check_invariants(self) -> None:
        super().check_invariants()
        if self._watched is not None:
            self._watched.check_invariants()
            assert 0 < len(self._watched) <= MOST_WATCHED
        assert self._made is None or 0 < len(self._made) <= MOST_DELAYED
        assert self._replies is None or 0 < len(self._replies) <= MOST_DELAYED
        assert self._questions is None or len(self._questions) <= MOST_QUESTIONS
