"""A client's messages, and its requests: sent, answered, given up. ``session`` adds the registration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlay.core.chance import Chance
from overlay.systems.federation.clients.events import Event
from overlay.systems.federation.clients.requests import Request, Requests
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.wire import messages as m


class Busy(Exception):
    """It cannot be asked now; nothing has changed."""


class Asking:
    """``first`` is the smallest number of what it will name: registrations, subscriptions, notifications. Those of a
    client only rise, also over restarts."""

    __slots__ = ("_chance", "_news", "_next", "_terms", "peers", "requests")

    def __init__(self, terms: Terms, name: str, chance: Chance, now: int, first: int) -> None:
        self._terms, self._chance = terms, chance
        self.peers = Peers(name, terms.settings, chance, terms.wall_offset_ns, terms.key, terms.counters)
        self.peers.now = now
        self.requests = Requests(terms.most_requests)
        self._next = max(first, (now + terms.wall_offset_ns) // 1_000)
        self._news: list[Event] | None = None

    @property
    def name(self) -> str:
        return self.peers.name

    @property
    def broker(self) -> str:
        """Its broker, or the one that it tries or tried last."""
        raise NotImplementedError

    @property
    def is_in(self) -> bool:
        """Whether it is registered."""
        raise NotImplementedError

    # ---- numbers and events

    @property
    def next_number(self) -> int:
        """What it names next has this number or a higher one."""
        return self._next

    def draw_number(self) -> int:
        number, self._next = self._next, self._next + 1
        return number

    def events(self) -> Sequence[Event]:
        """What has happened since the last call."""
        news, self._news = self._news, None
        return news or ()

    def report(self, event: Event) -> None:
        if self._news is None:
            self._news = []
        self._news.append(event)

    def drop(self, reason: str) -> None:
        """Count a message that changes nothing."""
        self.peers.counters[f"dropped_{reason}"] += 1

    # ---- requests

    def ask(
        self,
        req: int,
        message: m.Message,
        deadline: int,
        context: Any = None,
        peer: Site | None = None,
        *,
        is_bounded: bool = True,
    ) -> None:
        """Send a request, now or once it is registered; ``peer``: to this one instead of the broker.

        Raises ``Busy``, and ``BadMessage`` for a value outside its limits; nothing has changed then.
        """
        if is_bounded and self.requests.is_full:
            raise Busy(f"{len(self.requests):,} requests are without an answer, the most that there may be")
        request = Request("" if peer is None else peer.id, message, context)
        if peer is not None and not self.peers.open(peer.id, peer.address):
            raise Busy(f"the last session with {peer.id} is still being closed")
        if (peer is None and not self.is_in) or not self._send(request):
            self.peers.codec.encode(message)
        self.requests.add(req, request, deadline)

    def again(self, request: Request) -> None:
        """Send it to the broker under a new registration."""
        request.is_repeated = False
        self._send(request)

    def _send(self, request: Request) -> bool:
        request.tries += 1
        return self.peers.send(request.peer or self.broker, request.message)

    def _end(self, req: int, request: Request, code: m.Code, answer: Any) -> None:
        """A request has ended, and is in ``requests`` no more. ``answer``: the message, or the words of a refusal."""

    def take_answer(self, peer: str, req: int, code: m.Code, answer: Any) -> None:
        """``peer`` is empty for the broker."""
        request = self.requests.get(req)
        if request is None or request.peer != peer:
            self.drop("answer")
            return
        self.requests.take(req)
        self._end(req, request, code, answer)
        if peer and not self.requests.of(peer):
            self.peers.close(peer)

    def give_up_late(self) -> None:
        """The deadlines that have come."""
        for req, request in self.requests.due(self.peers.now):
            self._end(req, request, m.Code.TIMEOUT, None)

    def fail_all(self, peer: str) -> None:
        """No answer will come from this peer."""
        for req, request in self.requests.of(peer):
            self.requests.take(req)
            self._end(req, request, m.Code.TIMEOUT, None)
