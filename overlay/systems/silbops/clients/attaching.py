"""At a broker: attach, resume, detach, and again after a lost session (seed 002, sections 6 and 7).

::

    OUT ── attach ──> ATTACHING ── ATTACHED ──> IN ── detach ──> LEAVING ──> OUT
                        │   ^                    │
                   lost │   │ after a pause      │ lost
                        v   │                    │
                       WAITING <─────────────────┘        for ``give_up`` at most, then OUT
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import StrEnum

from overlay.core.node import SECOND
from overlay.core.timers import earliest
from overlay.systems.silbops.clients.events import Connected, Detached, Event, GaveUp, Lost
from overlay.systems.silbops.clients.requests import Requests
from overlay.systems.silbops.clients.terms import ATTACHING, LEAVING, NEW, PATIENCE, Former, Site, Terms
from overlay.systems.silbops.clients.wires import Ended, Heard, Wire
from overlay.systems.silbops.wire import messages as m

NOWHERE = Site("", ("", 0))
SILENT = "silent"


class State(StrEnum):
    OUT = "out"
    ATTACHING = "attaching"
    IN = "in"
    WAITING = "waiting"
    LEAVING = "leaving"


class Attaching:
    def __init__(self, terms: Terms, id: m.Client, wire: Wire, now: int, former: Former = NEW) -> None:
        self._terms, self.id, self._wire = terms, id, wire
        self._now = now
        self.state = State.OUT
        self.site = NOWHERE
        """The broker that serves it, or is to serve it."""
        self._home = former.broker
        """The last broker that served it, which may have what the client has set."""
        self._due: int | None = None
        self._failures = 0
        self._lost_at = 0
        """When attaching began."""
        self._is_resumed: bool | None = None
        """What ATTACHED said, while the session with the old broker is being closed: what that one did not receive goes
        first."""
        self._heard_at = 0
        """When the broker answered last, or had nothing to answer."""
        self._unsent: deque[int] = deque()
        """Numbers of requests and publications that the channel has no room for. Without a broker: none."""
        self._news: list[Event] = []
        self._requests = Requests(former.last + 1, self._news.append)

    @property
    def is_in(self) -> bool:
        return self.state is State.IN

    def attach(self, site: Site, now: int) -> None:
        """At this broker. One that had what the client has set hands it over."""
        self._now = now
        if self.state is State.IN and site == self.site:
            return
        if self.state in (State.ATTACHING, State.IN) and self.site.broker not in (site.broker, self._home):
            self._wire.close(self.site.broker, now)
        self.site, self._failures, self._lost_at = site, 0, now
        self._unsent.clear()
        self._try()

    def detach(self, now: int) -> None:
        """The broker keeps notifications for a while, then forgets the client. ``attach`` resumes."""
        self._now = now
        if self.state in (State.ATTACHING, State.IN):
            self._wire.close(self.site.broker, now)
            self.state, self._due = State.LEAVING, now + LEAVING
            self._unsent.clear()
        elif self.state is State.WAITING:
            self._out(Detached(self.site.broker))

    def events(self) -> list[Event]:
        """What has happened since the last call."""
        news = self._news[:]
        self._news.clear()
        return news

    # ---- a Node

    def receive_datagrams(self, datagrams: Iterable[tuple[bytes, tuple[str, int]]], now: int) -> None:
        self.handle_timer(now)
        self._wire.receive(datagrams, now)
        self._take_events()

    def handle_timer(self, now: int) -> None:
        self._now = now
        self._wire.handle_timer(now)
        self._take_events()
        due = self._deadline()
        if due is not None and due <= now:
            self._ring()

    def next_timer(self) -> int | None:
        return earliest(self._deadline(), self._wire.next_timer())

    def datagrams_to_send(self) -> list[tuple[bytes, tuple[str, int]]]:
        return list(self._wire.datagrams_to_send())

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        self._wire.check_invariants()
        self._requests.check_invariants()
        assert self.state is State.IN or not self._unsent
        assert (self._due is None) == (self.state in (State.OUT, State.IN)), "it waits for ever, or without need"

    # ---- for the client

    @property
    def has_room(self) -> bool:
        """Whether it is attached, and the channel takes the next message at once."""
        return self.state is State.IN and not self._unsent and not self._wire.is_full(self.site.broker)

    def _send(self, numbers: Iterable[int]) -> None:
        """Send what is in ``_requests``, as far as there is room, in order."""
        if self.state is State.IN:
            self._unsent.extend(numbers)
            self._pump()

    def _pump(self) -> None:
        wire, broker = self._wire, self.site.broker
        while self._unsent and wire.has_session(broker) and not wire.is_full(broker):
            number = self._unsent.popleft()
            message = self._requests.get(number)
            if message is None:
                continue
            if not wire.send(broker, message, self._now):
                self._answer(number, m.Refused(number, m.Code.TOO_LARGE, "The message is too large."))
            elif isinstance(message, m.Publish):
                self._requests.sent(number)

    def _answer(self, number: int, refusal: m.Refused | None) -> None:
        """A request or publication was answered."""
        raise NotImplementedError

    def _hear(self, message: m.Notify) -> None:
        raise NotImplementedError

    def _begin(self, *, is_resumed: bool, is_moved: bool) -> None:
        """It is attached: what is in ``_requests`` then is sent."""
        raise NotImplementedError

    def _drop(self, reason: str) -> None:
        self._terms.counters[f"dropped_{reason}"] += 1

    # ---- the session

    def _try(self) -> None:
        broker, address = self.site
        if not self._wire.open(broker, address, self._now):
            self.state, self._due = State.WAITING, self._now + SECOND
            return
        self.state, self._due, self._is_resumed = State.ATTACHING, self._now + ATTACHING, None
        mode = m.Mode.RESUME if self._home else m.Mode.NEW
        old = self._home if self._home not in ("", broker) else None
        self._wire.send(broker, m.Attach(self.id, mode, old), self._now)

    def _take_attached(self, is_resumed: bool) -> None:
        if self._home != self.site.broker and self._wire.has_session(self._home):
            self._wire.close(self._home, self._now)
            self._is_resumed, self._due = is_resumed, self._now + LEAVING
        else:
            self._attached(is_resumed)

    def _attached(self, is_resumed: bool) -> None:
        before, self._home = self._home, self.site.broker
        self.state, self._due, self._heard_at = State.IN, None, self._now
        is_moved = before not in ("", self._home)
        self._news.append(Connected(self._home, is_resumed))
        self._begin(is_resumed=is_resumed, is_moved=is_moved)
        self._send([number for number, _ in self._requests])

    def _lose(self, reason: str) -> None:
        """The session, or the attempt, has failed."""
        if self.state is State.IN:
            self._news.append(Lost(self.site.broker, reason))
            self._failures, self._lost_at = 0, self._now
        self._unsent.clear()
        self._failures += 1
        if self._now - self._lost_at >= self._terms.give_up:
            self._terms.counters["dropped_unsent"] += self._requests.drop_publications()
            self._out(GaveUp(self.site.broker))
            return
        self.state, self._due = State.WAITING, self._now + self._terms.pause(self._failures)

    def _out(self, event: Event) -> None:
        self.state, self._due = State.OUT, None
        self._unsent.clear()
        self._requests.abandon()
        self._news.append(event)

    def _deadline(self) -> int | None:
        if self.state is State.IN and len(self._requests):
            return self._heard_at + PATIENCE
        return self._due

    def _ring(self) -> None:
        broker = self.site.broker
        if self.state is State.WAITING:
            self._try()
        elif self.state is State.LEAVING:
            self._out(Detached(broker))
        elif self.state is State.ATTACHING and self._is_resumed is not None:
            self._attached(self._is_resumed)
        else:
            self._wire.close(broker, self._now)
            self._lose(SILENT)

    # ---- what brokers say

    def _take_events(self) -> None:
        for event in self._wire.events():
            if isinstance(event, Heard):
                self._take(event.broker, event.message)
            else:
                self._take_end(event)
        self._pump()

    def _take(self, broker: str, message: m.Message) -> None:
        match message:
            case m.Notify():
                self._hear(message)
            case m.Ok(req):
                self._answer(req, None)
                self._heard(broker)
            case m.Refused(req, code) if code is m.Code.NOT_ATTACHED or (req == 0 and not self.is_in):
                self._refused(broker, code)
            case m.Refused(req):
                self._answer(req, message)
                self._heard(broker)
            case m.Attached(is_resumed) if self.state is State.ATTACHING and broker == self.site.broker:
                self._take_attached(is_resumed)
            case _:
                self._drop("unexpected")

    def _heard(self, broker: str) -> None:
        if broker == self.site.broker:
            self._heard_at = self._now

    def _refused(self, broker: str, code: m.Code) -> None:
        """The broker does not serve the client."""
        if broker == self.site.broker and self.state in (State.ATTACHING, State.IN):
            self._wire.close(broker, self._now)
            self._lose(code.name.lower())

    def _take_end(self, event: Ended) -> None:
        self._requests.back(event.publications)
        if event.broker != self.site.broker:  # the broker before a move
            if self.state is State.ATTACHING and self._is_resumed is not None:
                self._attached(self._is_resumed)
            else:
                self._send([one.number for one in event.publications])
        elif self.state is State.LEAVING:
            self._out(Detached(event.broker))
        elif self.state in (State.ATTACHING, State.IN):
            self._lose(event.reason)
