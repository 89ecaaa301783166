"""Consumers and providers of a network of federated brokers, for programs with an event loop.

Counterpart: ``overlay.systems.federation.clients`` has the protocol; this module adds a socket and a clock, and waits
for answers::

    async with ConsumerClient(at_broker(("127.0.0.1", 7000)), "alice", print) as alice:
        await alice.subscribe([Wanted(("climate",), expires_ms, parse("temperature > 25"))])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address
from random import SystemRandom
from time import monotonic_ns
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from overlay.core.addresses import Address, format_address
from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.programs import inbox
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.line import Line
from overlay.systems.federation.clients.asking import Busy
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.events import (
    Accepted,
    Answered,
    End,
    Ended,
    Event,
    Notified,
    PublishEnded,
    Verdict,
)
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Content, Produce, Provider
from overlay.systems.federation.clients.registering import LEAVING, State
from overlay.systems.federation.clients.terms import NOWHERE, Site, Terms
from overlay.systems.federation.settings import BY_MULTICAST, Settings
from overlay.systems.federation.wire.composites import ADVERTISEMENT
from overlay.systems.federation.wire.messages import Code, Nack
from overlay.systems.federation.wire.values import Advertisement, Found, Notification, Role, Subscription

Inbox = inbox.Inbox[Event]
AnyCore = TypeVar("AnyCore", Consumer, Provider)
OnEvent = Callable[[Event], object]
PATIENCE_S = 10.0
"""For the answer to a call that has no other limit."""


class NoAnswer(WaxwingError):
    """No broker was found, or it did not answer in time."""


NO_BROKER = "The registration service does not take this message."
"""Its words to who registers there."""
SENTENCES: Mapping[Code, str] = {
    Code.UNKNOWN: "The broker does not know this client.",
    Code.INVALID: "The broker does not accept this as it is.",
    Code.BAD: "The broker could not read this.",
    Code.LIMIT: "The broker is at a limit.",
    Code.NO_PROVIDER: "No provider of these scopes answered with context.",
    Code.CYCLE: "Providers of these scopes need each other's data.",
    Code.TIMEOUT: "Providers of these scopes did not answer in time.",
    Code.DENIED: "The broker denies this.",
}
"""Of refusals that have no words, as every answer to a query."""


class Refused(WaxwingError):
    """The broker refused what it was told. ``code`` is that of seed 001, section 3."""

    def __init__(self, code: Code, words: str) -> None:
        super().__init__(words or SENTENCES[code])
        self.code = code


def at_broker(address: Address, settings: Settings | None = None) -> Terms:
    """The terms of clients at the broker with an address. ``settings`` are the network's: clients need
    ``keepalive_s`` and ``encoding`` of them."""
    changed = replace(settings or Settings(), discovery=BY_MULTICAST)
    return Terms(changed, wall_offset_ns(), group=(address,))


def by_service(address: Address, settings: Settings | None = None) -> Terms:
    """Of clients that ask the registration service at an address for a broker."""
    return Terms(replace(settings or Settings(), discovery="bdrs"), wall_offset_ns(), address)


def by_multicast(settings: Settings | None = None) -> Terms:
    """Of clients that look for a broker in the local network."""
    return Terms(replace(settings or Settings(), discovery=BY_MULTICAST), wall_offset_ns())


LOOPBACK = "127.0.0.1"


class _Client(Generic[AnyCore]):
    """Registered while an ``async with`` block lasts. It survives restarts of its broker; ``on_event`` gets all events
    of ``clients.events``, and must not wait."""

    core: AnyCore

    def __init__(self, terms: Terms, on_event: OnEvent | None, within_s: float, interface: str) -> None:
        """``within_s``: for registering, and for each call without another limit. ``interface``: the address of the
        one for multicast; empty: the system's default."""
        self._terms, self._on_event, self._within_s, self._interface = terms, on_event, within_s, interface
        self._line: Line | None = None

    async def __aenter__(self) -> Self:
        """Raises ``NoAnswer``; ``Refused`` if the broker refuses the registration."""
        self._line = Line(self.core, self._take, interface=self._interface)
        try:
            self.core.start(monotonic_ns())
            await self._line.until(lambda: self.core.is_in or self.core.refusal is not None, self._within_s)
            if self.core.refusal is not None:
                raise self._refused(self.core.refusal)
            if not self.core.is_in:
                raise NoAnswer(f"{self._where} did not answer within {self._within_s:g} s.{self._advice}")
        except BaseException:
            self._line.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Unregister, and wait until the broker has heard, or does not."""
        self.core.leave(monotonic_ns())
        try:
            await self.line.until(lambda: self.core.state is State.OUT, 2 * LEAVING / SECOND)
        finally:
            self.line.close()

    @property
    def line(self) -> Line:
        assert self._line is not None, "it is used in an async with block"
        return self._line

    @property
    def site(self) -> Site:
        """Its broker, or the one that it tries."""
        return self.core.site

    async def advertise(
        self, scopes: Sequence[str], needs: Mapping[str, Sequence[str]] | None = None, url: str = ""
    ) -> None:
        """Change what it is registered with. The broker is told at once; nothing is waited for. Raises
        ``BadMessage``."""
        asked = {scope: tuple(several) for scope, several in (needs or {}).items()}
        me = Advertisement(self.core.name, 0, _role_of(self.core), url, tuple(scopes), asked)
        self.core.advertise(_sendable(me), monotonic_ns())
        self.line.step()

    # ---- for the kinds of clients

    def _see(self, event: Event) -> None:
        """Before ``on_event``."""

    async def _until(self, is_it: Callable[[], bool], within_s: float) -> None:
        """Raises ``NoAnswer``."""
        if not await self.line.until(is_it, within_s):
            raise NoAnswer(f"{self.site.id or self._where} did not answer within {within_s:g} s.")

    @property
    def _where(self) -> str:
        terms = self._terms
        if terms.settings.discovery == "bdrs" and terms.service:
            return f"The registration service at {format_address(terms.service)}"
        return f"A broker at {' or '.join(map(format_address, terms.group))}"

    @property
    def _advice(self) -> str:
        """What else finds a broker by multicast."""
        if not any(ip_address(host).is_multicast for host, _ in self._terms.group):
            return ""
        if self._interface == LOOPBACK:
            return " Only networks with discovery=multicast answer."
        return (
            " Only networks with discovery=multicast answer, on their brokers' interface (--interface); those that "
            f"this machine hosts do so on the interface {LOOPBACK}."
        )

    def _refused(self, refusal: Nack) -> Refused:
        """An advertisement that the broker cannot read was written as in networks with another encoding. Only the
        registration service takes no REGISTER at all."""
        words = refusal.words
        if words == NO_BROKER:
            words += " Give it with --service (by_service), or give the address of a broker."
        if refusal.code is Code.BAD and words.startswith("REGISTER, advertisement"):
            words += f". The network's encoding is not {self._terms.settings.encoding} (--encoding)."
        return Refused(refusal.code, words)

    def _take(self, event: Event) -> None:
        self._see(event)
        if self._on_event is not None:
            self._on_event(event)


def _sendable(me: Advertisement) -> Advertisement:
    """Raises ``BadMessage`` for what REGISTER cannot carry: no broker would ever answer it."""
    needs = {scope: list(needed) for scope, needed in me.needs.items()}
    ADVERTISEMENT.read([me.id, me.registration, me.role.value, me.url, list(me.scopes), needs])
    return me


def _role_of(core: Consumer | Provider) -> Role:
    return Role.PROVIDER if isinstance(core, Provider) else Role.CONSUMER


class ConsumerClient(_Client[Consumer]):
    """``on_event`` gets a notification once, with the subscriptions that it is new for; copies are left out."""

    def __init__(
        self,
        terms: Terms,
        name: str,
        on_event: OnEvent | None = None,
        *,
        site: Site = NOWHERE,
        within_s: float = PATIENCE_S,
        interface: str = "",
    ) -> None:
        """``name`` is unique in the network. ``site``: the broker to begin at, without a search. Raises
        ``BadMessage`` for a name without 1 to 64 bytes."""
        super().__init__(terms, on_event, within_s, interface)
        _sendable(Advertisement(name, 0, Role.CONSUMER, "", ()))
        self.core = Consumer(terms, name, site, SystemRandom(), monotonic_ns())
        self._told: dict[int, Ended | None] = {}
        """By number of what has just been subscribed to: how it ended, None while it goes on."""
        self._unanswered: set[int] = set()
        self._answers: dict[int, Answered | None] = {}

    async def subscribe(self, wanted: Sequence[Wanted], within_s: float | None = None) -> list[Subscription]:
        """Returns once the broker has them. Raises ``Refused``, ``NoAnswer``, ``Busy`` and ``BadMessage``; after
        ``NoAnswer`` they are withdrawn."""
        made = self.core.subscribe(wanted, monotonic_ns())
        numbers = {one.id.number for one in made}
        self._unanswered |= numbers
        try:
            await self._until(lambda: not self._unanswered & numbers, within_s or self._within_s)
            refused = next((one for number in numbers if (one := self._told.get(number)) is not None), None)
            if refused is not None and refused.end is End.REFUSED:
                raise Refused(refused.code, refused.words)
        except NoAnswer:
            self.core.withdraw(numbers, monotonic_ns())
            self.line.step()
            raise
        finally:
            self._unanswered -= numbers
            for number in numbers:
                self._told.pop(number, None)
        return made

    def renew(self, number: int, expires: int) -> bool:
        """Let a subscription expire at another time, Unix ms. Nothing is waited for. ``False``: it is not live."""
        is_live = self.core.renew(number, expires, monotonic_ns())
        self.line.step()
        return is_live

    async def withdraw(self, numbers: Sequence[int], within_s: float | None = None) -> None:
        """Returns once the broker knows. Those that are not live are ignored. Raises ``NoAnswer``: it is told again
        by itself."""
        self.core.withdraw(numbers, monotonic_ns())
        await self._until(lambda: not self.core.is_withdrawing, within_s or self._within_s)

    async def lookup(self, scope: str, within_s: float | None = None) -> tuple[Found, ...]:
        """The providers of a scope. Raises ``Refused``, ``NoAnswer``, ``Busy``, ``BadMessage``."""
        patience = within_s or self._within_s
        return (await self._answer(self.core.lookup(scope, monotonic_ns(), round(patience * SECOND)), patience)).found

    async def query(
        self,
        scopes: Sequence[str],
        *,
        entity_type: str | None = None,
        entity_id: str | None = None,
        within_s: float | None = None,
        provider: Site | None = None,
    ) -> tuple[Notification, ...]:
        """Context now, from the broker or straight from a provider that ``lookup`` has found. Raises as ``lookup``."""
        patience = within_s or self._within_s
        entity: dict[str, Any] = {"entity_type": entity_type, "entity_id": entity_id}
        req = self.core.query(scopes, monotonic_ns(), patience=round(patience * SECOND), provider=provider, **entity)
        return (await self._answer(req, patience)).notifications

    async def _answer(self, req: int, patience: float) -> Answered:
        self._answers[req] = None
        try:
            await self.line.until(lambda: self._answers[req] is not None, patience + 1)
            answered = self._answers[req]
        finally:
            del self._answers[req]
        if answered is None or (answered.code is Code.TIMEOUT and not answered.words):
            raise NoAnswer(f"No answer within {patience:g} s.")
        if answered.code is not Code.GOOD:
            raise Refused(answered.code, answered.words)
        return answered

    def _take(self, event: Event) -> None:
        """Brokers do not know what another one has sent: after the loss of its own, the cache of the next may send it
        again. So may what was under way to a subscription that has ended."""
        if isinstance(event, Notified):
            new = tuple(one for one in event.receipts if one.verdict is Verdict.FIRST)
            if not new:
                return
            event = event._replace(receipts=new)
        super()._take(event)

    def _see(self, event: Event) -> None:
        match event:
            case Accepted(numbers):
                self._unanswered.difference_update(numbers)
            case Ended(number) if number in self._unanswered:
                self._unanswered.discard(number)
                self._told[number] = event
            case Answered(req) if req in self._answers:
                self._answers[req] = event
            case _:
                pass


class ProviderClient(_Client[Provider]):
    def __init__(
        self,
        terms: Terms,
        name: str,
        scopes: Sequence[str],
        on_event: OnEvent | None = None,
        *,
        needs: Mapping[str, tuple[str, ...]] | None = None,
        url: str = "",
        produce: Produce | None = None,
        answers_later: bool = False,
        site: Site = NOWHERE,
        within_s: float = PATIENCE_S,
        interface: str = "",
    ) -> None:
        """``produce`` answers queries, at once; with ``answers_later`` each is an event ``Queried`` for ``answer``.
        Raises ``BadMessage`` for a name, scopes, needs or a URL that no message carries."""
        super().__init__(terms, on_event, within_s, interface)
        me = _sendable(Advertisement(name, 0, Role.PROVIDER, url, tuple(scopes), needs or {}))
        how: dict[str, Any] = {"produce": produce, "answers_later": answers_later}
        self.core = Provider(terms, me, site, SystemRandom(), monotonic_ns(), **how)
        self._ends: dict[object, PublishEnded | None] = {}

    def answer(self, number: int, contents: Sequence[Content | Notification]) -> None:
        """A question of ``Queried``."""
        self.core.answer(number, contents, monotonic_ns())
        self.line.step()

    async def is_wanted(self, within_s: float) -> bool:
        """Returns once a subscription to one of its scopes is known here, with ``False`` after ``within_s``. Those at
        other brokers come after the registration; what is published before they have come does not reach them."""
        return await self.line.until(lambda: bool(self.core.watched), within_s)

    async def publish(self, content: Content, within_s: float | None = None) -> Notification:
        """Returns once the broker has accepted it. Raises ``Refused``, ``NoAnswer``, ``Busy`` and ``BadMessage``."""
        patience = within_s or self._within_s
        notification = self.core.publish(content, monotonic_ns())
        self._ends[notification.id] = None
        try:
            await self._until(lambda: self._ends[notification.id] is not None, patience)
            end = self._ends[notification.id]
        finally:
            del self._ends[notification.id]
        assert end is not None
        if end.code is Code.TIMEOUT:
            raise NoAnswer(f"{self.site.id} did not answer within {patience:g} s.")
        if end.code is not Code.GOOD:
            raise Refused(end.code, end.words)
        return notification

    def _see(self, event: Event) -> None:
        if isinstance(event, PublishEnded) and event.id in self._ends:
            self._ends[event.id] = event


__all__ = [
    "Busy",
    "ConsumerClient",
    "Content",
    "Inbox",
    "NoAnswer",
    "ProviderClient",
    "Refused",
    "Wanted",
    "at_broker",
    "by_multicast",
    "by_service",
]
