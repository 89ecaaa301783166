"""What a client hears, and its timers: the base of consumers and providers, and their ``Node``.

``events()`` has those of ``events``. Timers that are due come before datagrams.
"""

from __future__ import annotations

from collections.abc import Sequence

from overlay.channel import Down, Moved, Reason
from overlay.core.addresses import Address
from overlay.core.timers import earliest
from overlay.peers.peers import Heard
from overlay.systems.federation.clients.events import LinkChanged
from overlay.systems.federation.clients.registering import UNKNOWN, Registering, State
from overlay.systems.federation.clients.requests import Request
from overlay.systems.federation.clients.terms import Site
from overlay.systems.federation.peers import PeerEvent
from overlay.systems.federation.wire import messages as m

OF_BROKERS = 1 << 63
"""The numbers of brokers' requests begin here (``broker.asking``). Such an ANSWER has the data that the next QUERY
needs."""


class Session(Registering):
    __slots__ = ()

    # ---- a Node

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.handle_timer(now)
        for data, source in datagrams:
            self.peers.receive(data, source)
        self._take_events()

    def handle_timer(self, now: int) -> None:
        self.peers.now = now
        self.peers.channel.handle_timer(now)
        if self._due is not None and self._due <= now:
            self._ring()
        self.give_up_late()
        self._ring_own()
        self._take_events()

    def next_timer(self) -> int | None:
        return earliest(self._due, self.requests.next_timer(), self._next_own(), self.peers.channel.next_timer())

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self.peers.channel.datagrams_to_send()

    # ---- for the kinds of clients

    def _hear(self, message: m.Message) -> None:
        """A message of its broker that answers no request."""
        self.drop("unexpected")

    def _hear_other(self, peer: str, message: m.Message) -> None:
        """A message of another peer that answers no request to it."""
        self.drop("stranger")

    def _ring_own(self) -> None:
        """Do what is due."""

    def _next_own(self) -> int | None:
        return None

    # ---- what peers say

    def _take_events(self) -> None:
        for event in self.peers.events():
            if self._seeking is not None and self._seeking.take(event):
                self._settle_seeking()
                continue
            match event:
                case Heard(peer=peer, message=message) if peer == self.broker:
                    self._take(message)
                case Heard(peer=peer, message=m.Answer(req, code) as answer):
                    self.take_answer(peer, req, code, answer)
                case Heard(peer=peer, message=m.Nack(_, req, code, words)):
                    self.take_answer(peer, req, code, words)
                case Heard(peer=peer, message=message):
                    self._hear_other(peer, message)
                case _:
                    self._take_change(event)

    def _take(self, message: m.Message) -> None:
        match message:
            case m.Ack(req) if req == self._register_req:
                if self.state is State.WAIT:
                    self._registered()
            case m.Ack(req):
                self.take_answer("", req, m.Code.GOOD, message)
            case m.Found(req):
                self.take_answer("", req, m.Code.GOOD, message)
            case m.Answer(req, code) if req < OF_BROKERS:
                self.take_answer("", req, code, message)
            case m.Nack():
                self._take_refusal(message)
            case m.Link(is_up):
                self.is_link_up = is_up
                self.report(LinkChanged(is_up))
            case _:
                self._hear(message)

    def _take_refusal(self, nack: m.Nack) -> None:
        if nack.req == self._register_req:
            if self.state is State.WAIT:
                self.refusal = nack
                self._lose(nack.code.name.lower())
        elif nack.code is m.Code.UNKNOWN:
            if self.state is State.IN:
                self._registered_at = ""  # what the broker forgot begins again
                self._lose(UNKNOWN, nack.words)
        elif nack.code is m.Code.INVALID and (request := self._refused_once(nack.req)) is not None:
            self._keep_alive()
            request.message = self._current(request.message)
            self._send(request)
        elif nack.req:
            self.take_answer("", nack.req, nack.code, nack.words)

    def _current(self, message: m.Message) -> m.Message:
        """What is asked again instead of a refused request: later ones may have been accepted meanwhile."""
        return message

    def _refused_once(self, req: int) -> Request | None:
        """The request, if its first refusal has come while it is registered."""
        request = self.requests.get(req)
        if request is None or request.peer or request.is_repeated or not self.is_in:
            return None
        request.is_repeated = True
        return request

    def _take_change(self, event: PeerEvent) -> None:
        match event:
            case Down(peer, reason):
                self._take_down(peer.decode(errors="replace"), reason)
            case Moved(peer, address) if peer == self.broker.encode():
                self._site = Site(self.broker, address)

    def _take_down(self, peer: str, reason: Reason) -> None:
        if peer != self.broker:
            self.fail_all(peer)
        elif self.state is State.LEAVING:
            self._out()
        elif self.state in (State.WAIT, State.IN):
            self._lose(reason)
