"""A client's registration at its broker, and its keep-alives (seed 001, section 8).

::

    OUT ─ start ──> WAIT ── ACK ──> IN ─┐ KEEPALIVE each f·Δ
                     ^ │            │ <─┘
            REGISTER │ │ refused    │ NACK UNKNOWN: WAIT, with a new registration, then all live subscriptions again
                     │ v            v
                   SEEKING <── unreachable for give_up_s: its broker again, or another by discovery
    any ─ leave ──> LEAVING ── UNREGISTER ──> OUT

``session`` adds what comes from peers.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from overlay.channel import Reason
from overlay.core.chance import Chance
from overlay.core.node import SECOND
from overlay.systems.federation.clients.asking import Asking
from overlay.systems.federation.clients.events import Left, Lost, Registered
from overlay.systems.federation.clients.seeking import Seeking
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.peers import CODES
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Advertisement

LEAVING = 2 * SECOND
"""The channel closes sessions within 1 s, and repeats BYE."""
SHORT = SECOND
"""A registration that lasts less is a failed attempt, so that no broker is asked again and again without a pause."""
UNKNOWN = "unknown"
"""Of ``Lost``: its broker does not know it."""
MOST_SITES = 5
"""Brokers to try after one search."""


class State(Enum):
    OUT = "out"
    SEEKING = "seeking"
    """Waits before the next attempt, or looks for a broker."""
    WAIT = "wait"
    IN = "in"
    LEAVING = "leaving"


class Registering(Asking):
    """``first`` is as in ``Asking``."""

    __slots__ = (
        *("_due", "_failures", "_in_since", "_kept_at", "_me", "_register_req", "_seeking", "_site", "_sites"),
        *("_registered_at", "is_link_up", "refusal", "registration", "state"),
    )

    def __init__(self, terms: Terms, me: Advertisement, site: Site, chance: Chance, now: int, first: int = 0) -> None:
        """``site``: the broker where it begins, or ``terms.NOWHERE``. ``me.registration`` is ignored."""
        super().__init__(terms, me.id, chance, now, first)
        self._me, self._site = me, site
        self.state = State.OUT
        self.registration = 0
        self._registered_at = ""
        """The broker for which the registration was drawn."""
        self.is_link_up = True
        """Whether its broker has a connection to others, as far as it said."""
        self.refusal: m.Nack | None = None
        """Why its broker does not register it, until it does."""
        self._register_req = 0
        self._due: int | None = None
        self._failures = 0
        """Attempts and short registrations in a row."""
        self._in_since = 0
        self._kept_at = -1
        """Of the last KEEPALIVE."""
        self._seeking: Seeking | None = None
        self._sites: tuple[Site, ...] = ()
        """To be tried next."""

    @property
    def site(self) -> Site:
        """Its broker, or the one that it tries or tried last."""
        return self._site

    @property
    def broker(self) -> str:
        return self._site.id

    @property
    def is_in(self) -> bool:
        return self.state is State.IN

    def start(self, now: int) -> None:
        self.peers.now = now
        if self.state is State.OUT:
            self._attach(self._site) if self._site.id else self._wait(0, ())

    def advertise(self, me: Advertisement, now: int) -> None:
        """Change the role, scopes, needs or url; the id stays. Its registration keeps its number."""
        self.peers.now = now
        self._me = replace(me, id=self._me.id)
        if self.state in (State.WAIT, State.IN):
            self._send_register()

    def leave(self, now: int) -> None:
        """Unregister, and close all sessions. Requests without an answer end; ``start`` begins again."""
        self.peers.now = now
        self._seeking, self._sites = None, ()
        if self.state in (State.WAIT, State.IN):
            self.peers.send(self.broker, m.Unregister(0, self.registration))
            self.peers.close(self.broker)
            self.state, self._due, self._registered_at = State.LEAVING, now + LEAVING, ""
        elif self.state is State.SEEKING:
            self._out()
        for peer in {request.peer for _, request in self.requests}:
            self.peers.close(peer)
            self.fail_all(peer)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        self.peers.check_invariants()
        self.requests.check_invariants()
        assert (self.state is State.OUT) == (self._due is None), "it waits for ever, or without need"
        assert self._seeking is None or self.state is State.SEEKING
        assert len(self._sites) <= MOST_SITES

    # ---- for the kinds of clients

    def _forget(self) -> None:
        """A new registration begins: what the broker asked for under the old one no longer counts."""

    def _resume(self) -> None:
        """It is registered: tell the broker what it may have forgotten. ``requests`` has those without an answer."""

    # ---- the registration

    def _attach(self, site: Site) -> None:
        if site.id != self._site.id:
            self.peers.close(self.broker)
        self._site = site
        if site.id == self.name:
            self.refusal = m.Nack(CODES[m.Register], 0, m.Code.BAD, f"{site.id} is the name of a broker.")
            self._wait(self._terms.slowest, ())
        elif self.peers.open(site.id, site.address):
            self._register(is_new=site.id != self._registered_at)
        else:  # its last session is still being closed
            self._wait(SECOND, (site, *self._sites[: MOST_SITES - 1]))

    def _register(self, *, is_new: bool = True) -> None:
        """A broker that may know the registration still is told the same, and keeps what waits under it."""
        if is_new:
            self.registration, self._registered_at = self.draw_number(), self.broker
        self.state, self._due = State.WAIT, self.peers.now + self._terms.registering
        self._forget()
        self._send_register()

    def _send_register(self) -> None:
        self._register_req = self.requests.draw()
        advertisement = replace(self._me, registration=self.registration)
        self.peers.send(self.broker, m.Register(self._register_req, advertisement))

    def _registered(self) -> None:
        self.state, self._sites, self.refusal = State.IN, (), None
        self._in_since = self._kept_at = self.peers.now
        self._due = self.peers.now + self._terms.keepalive_every
        self.report(Registered(self.broker, self.registration))
        self._resume()

    def _keep_alive(self) -> None:
        """At most once at an instant."""
        if self._kept_at < self.peers.now:
            self._kept_at = self.peers.now
            self.peers.send(self.broker, m.KeepAlive(self.registration))

    def _ring(self) -> None:
        if self.state is State.IN:
            self._keep_alive()
            self._due = self.peers.now + self._terms.keepalive_every
        elif self.state is State.LEAVING:
            self._out()
        elif self.state is State.WAIT:
            self.peers.close(self.broker)
            self._lose("silent")
        elif self._seeking is not None:
            self._seeking.ring()
            self._settle_seeking()
        else:
            self._try()

    def _lose(self, reason: str, words: str = "") -> None:
        """The attempt, or the registration, has failed."""
        if self.state is State.IN:
            self.report(Lost(self.broker, reason, words))
            if self.peers.now - self._in_since >= SHORT:
                self._failures = 0
        self._failures += 1
        is_here = reason == UNKNOWN or (reason == Reason.RESET and self._failures == 1)
        if is_here or not self._terms.discovers:
            self._wait(self._terms.pause(self._failures), (self._site,))
        else:
            self._wait(0 if self._sites else self._terms.pause(self._failures), self._sites)

    def _wait(self, pause: int, sites: tuple[Site, ...]) -> None:
        self.state, self._sites = State.SEEKING, sites
        self._due = self.peers.now + pause
        if not pause:
            self._try()

    def _try(self) -> None:
        """The next broker, or a search for some."""
        if self._sites:
            site, *others = self._sites
            self._sites = tuple(others)
            self._attach(site)
        else:
            self._seeking = Seeking(self._terms, self.peers, self._chance, self.requests.draw())
            self._settle_seeking()

    def _settle_seeking(self) -> None:
        """Those found are tried, the one that just failed last, and alone if there are no others."""
        seeking = self._seeking
        if seeking is None or not seeking.is_over:
            self._due = self._due if seeking is None else seeking.due
            return
        self._seeking = None
        others = [site for site in seeking.found if site.id != self.broker][: MOST_SITES - 1]
        own = next((site for site in seeking.found if site.id == self.broker), self._site)
        if own.id:
            others.append(own)
        self._wait(0 if others else SECOND, tuple(others))

    def _out(self) -> None:
        self.state, self._due = State.OUT, None
        self.report(Left())
