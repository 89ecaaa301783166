"""A provider of a workload: answers what it is offered, or publishes at random times, asked or not."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.federation.clients.asking import Busy
from overlay.systems.federation.clients.events import Event, Published, PublishEnded, Replied
from overlay.systems.federation.clients.provider import Asked, Content, Provider
from overlay.systems.federation.load.life import Life
from overlay.systems.federation.load.plans import ClientPlan
from overlay.systems.federation.load.shared import Shared
from overlay.systems.federation.names import provider_name, query_name, scope_name
from overlay.systems.federation.rows import Noted, row
from overlay.systems.federation.rows import Replied as RepliedRow
from overlay.systems.federation.wire.messages import Code
from overlay.systems.federation.wire.values import Advertisement, NotificationId, Role
from overlay.systems.federation.workload import ONCE, needs_of

ENTITY = "room"
"""The type of all entities."""
OUTCOMES = {Code.GOOD: "answered", Code.TIMEOUT: "timed_out"}
"""All others: ``refused``."""


class _Open:
    """A notification without an answer."""

    __slots__ = ("intended", "published", "sent")

    def __init__(self, published: Published, intended: int, sent: int) -> None:
        self.published, self.intended, self.sent = published, intended, sent


class Providing(Life[Provider]):
    __slots__ = ("_intended", "_open")

    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        super().__init__(plan, shared, shared.published)
        self._open: dict[NotificationId, _Open] | None = None
        self._intended: int | None = None
        """When the notification should have been published that is being published."""

    @property
    def name(self) -> str:
        return provider_name(self.plan.number)

    @property
    def scope(self) -> str:
        return scope_name(self._scope)

    @property
    def _scope(self) -> int:
        return self.plan.number % self.shared.workload.scopes

    @property
    def is_finished(self) -> bool:
        """While there may be queries, it waits to be asked until it is abandoned."""
        return self._is_over or (self.shared.workload.kind != ONCE and self._is_done and not self._open)

    def _times(self) -> Sequence[int]:
        return self.shared.published.times

    def _born(self, chance: Chance, now: int, first: int) -> Provider:
        shared, workload = self.shared, self.shared.workload
        needed = tuple(map(scope_name, needs_of(self._scope, workload)))
        me = Advertisement(
            self.name, 0, Role.PROVIDER, scopes=(self.scope,), needs={self.scope: needed} if needed else {}
        )
        produce = self._produce if workload.kind == ONCE else None
        delay = round(workload.provider_ms * MILLISECOND)
        site = shared.site(self.plan.broker)
        return Provider(
            shared.terms_at(self.plan.broker), me, site, chance, now, produce=produce, delay=delay, first=first
        )

    def _produce(self, asked: Asked) -> Content:
        """About its own entity, whichever was meant."""
        life_ms = round(self.shared.settings.cache_validity_s * SECOND) // MILLISECOND
        return Content(ENTITY, f"r{self.plan.number}", asked.scope, asked.wall_ms + life_ms, self.shared.data)

    def _arrive(self, number: int, intended: int, now: int) -> None:
        core = self.core
        content = self._produce(Asked(self.scope, None, None, self.shared.terms.wall_ms(now)))
        try:
            if core is None or self._away:
                raise Busy("it has vanished")
            self._intended = intended
            core.publish(content, now)
        except Busy:
            self.shared.tally.started(now - intended)
            self._sample("refused", Code.LIMIT, 0, intended, now, now, f"{self.name}|", 0)
        self._collect(now)
        self._intended = None

    def _note(self, event: Event, now: int) -> None:
        match event:
            case Published(notification):
                intended = now if self._intended is None else self._intended
                self.shared.tally.started(now - intended)
                if self._open is None:
                    self._open = {}
                self._open[notification.id] = _Open(event, intended, now)
            case PublishEnded(nid, code, tries):
                self._note_ended(nid, code, tries, now)
            case Replied(asker, req, asked, code, notes):
                us, named = self.shared.us, [f"{note.id.provider}|{note.id.number}" for note in notes]
                self._report(
                    row(us(now), RepliedRow(query_name(asker, req), self.name, us(asked), us(now), int(code), named))
                )

    def _note_ended(self, nid: NotificationId, code: Code, tries: int, now: int) -> None:
        one = None if self._open is None else self._open.pop(nid, None)
        if one is None:
            return
        self._open = self._open or None
        us, (notification, satisfied) = self.shared.us, one.published
        told = Noted(
            self.name,
            nid.number,
            notification.scope,
            f"{notification.entity_type}|{notification.entity_id}",
            self.shared.us_of_wall_ms(notification.timestamp),
            us(now) if code is Code.GOOD else 0,
            0 if code is Code.TIMEOUT else int(code),
            [f"{sid.client}|{sid.number}" for sid in satisfied],
        )
        self._report(row(us(now), told))
        outcome = OUTCOMES.get(code, "refused")
        entity = f"{self.name}|{nid.number}"
        self._sample(outcome, code, tries, one.intended, one.sent, now, entity, notification.timestamp)

    def _end_all(self, now: int) -> None:
        for nid in list(self._open or ()):
            self._note_ended(nid, Code.TIMEOUT, 1, now)
