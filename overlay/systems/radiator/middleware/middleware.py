"""The client's middleware (seed 003, 4.1): a ``Node`` with the five functions of the paper. One client each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.addresses import Address
from overlay.core.errors import WaxwingError, WireError
from overlay.core.node import NodeEvent
from overlay.core.timers import earliest
from overlay.systems.radiator.chains.hop import Delivery, Hop
from overlay.systems.radiator.config import Transport, ns
from overlay.systems.radiator.context import MAX_BYTES, parse_body
from overlay.systems.radiator.middleware.calls import Call, Calls, Result
from overlay.systems.radiator.middleware.membership import Membership, State
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import deflate

ReceiveCallback = Callable[[Any, Delivery], None]
"""Called with each context of a delivery."""


class Misuse(WaxwingError):
    """A call that cannot be made, such as one before ``setup``. Nothing has changed."""


@dataclass(frozen=True, slots=True)
class RegistrationEnded(NodeEvent):
    """``code`` is that of REGISTERED; -1 if the server does not answer."""

    code: int
    epoch: int


class Middleware:
    """``instance`` is random, 64 bits. ``read`` parses the body of a push into contexts and raises ``WireError``."""

    def __init__(
        self,
        config: Transport,
        instance: int,
        *,
        read: Callable[[bytes], Sequence[Any]] = parse_body,
        is_patient: bool = False,
        make_hop: Callable[..., Hop] = Hop,
    ) -> None:
        self._config, self._instance = config, instance
        self._server: Address | None = None
        self._callback: ReceiveCallback | None = None
        self._reqs = instance % (1 << 31)  # a predecessor's late answers fit no request of this instance
        self._sent_at = self._heard_at = 0
        self._alive, self._silence = ns(config.alive_s), ns(config.silence_s)
        self._out: list[tuple[bytes, Address]] = []
        self._events: list[NodeEvent] = []
        self._membership = Membership(config, instance, self._send_to_server, self._next_req)
        self._calls = Calls(config, self._send_to_server, is_patient=is_patient)
        self.hop = make_hop(
            config, instance, read=read, deliver=self._deliver, send=self._send, is_client=lambda at: at != self._server
        )

    @property
    def state(self) -> State:
        return self._membership.state

    @property
    def is_closed(self) -> bool:
        """Whether it has been unregistered and its port may be closed."""
        return self.state is State.GONE and self.hop.is_idle

    # ---- the interface of the paper

    def setup(self, server: Address) -> None:
        if self.state is not State.IDLE:
            raise Misuse("setup comes before register_client")
        self._server = server

    def register_client(
        self,
        id: str,
        receive_callback: ReceiveCallback,
        attributes: Mapping[str, Any] | None = None,
        *,
        is_p2p: bool = False,
        is_http: bool = False,
        now: int,
    ) -> None:
        """Begin the registration; its end is the event ``RegistrationEnded``. Also to change attributes.

        ``is_http`` for one that is behind a gateway, and in chains of its clients only.
        """
        if self._server is None:
            raise Misuse("setup comes before register_client")
        if self.state in (State.REGISTERING, State.LEAVING, State.GONE):
            raise Misuse(f"the client is {self.state}")
        try:
            flags = (m.P2P | is_http * m.HTTP) if is_p2p else 0
            encode(m.Register(0, 0, 0, flags, id, dict(attributes or {})))
        except WireError as error:
            raise Misuse(str(error)) from None
        self._callback = receive_callback
        self.hop.is_p2p = self.hop.is_p2p or is_p2p
        self._membership.register(id, attributes or {}, now, flags=flags)

    def unregister_client(self, id: str, now: int) -> None:
        """Open calls end. Its port must stay open until ``is_closed``."""
        if id != self._membership.id or self.state in (State.IDLE, State.GONE):
            raise Misuse(f"{id!r:.60} is not registered")
        self.hop.leave()
        self._calls.end_all(Result.UNREGISTERED, now)
        self._membership.unregister(now)

    def propagate_context(self, context: bytes, called_at: int, now: int, req: int | None = None) -> Call:
        """``context`` is canonical JSON; ``called_at`` the intended instant, ns since 1970. Waits for registration.

        ``req`` identifies the call at this instance, 32 bits; one that is open is not begun again.
        """
        if self.state in (State.IDLE, State.REFUSED, State.LEAVING, State.GONE):
            raise Misuse(f"the client is {self.state}")
        if len(context) > MAX_BYTES:
            raise Misuse(f"a context has at most {MAX_BYTES} bytes, not {len(context)}")
        if req is not None and (known := self._calls.get(req)) is not None:
            return known
        codec, req = self._config.codec_number, self._next_req() if req is None else req
        request = m.Context(req, self._instance, called_at, codec, deflate(context, codec))
        epoch = self._membership.epoch if self.state is State.REGISTERED else None
        return self._calls.begin(request, epoch, now)

    def give_up(self, call: Call, now: int) -> None:
        """End a call that the server is too busy for, instead of repeating it after ``retry_ms``."""
        self._calls.give_up(call, now)

    # ---- a Node

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            try:
                message = parse(data)
            except WireError:
                continue
            self._heard_at = now
            if isinstance(message, m.Push):
                self.hop.receive_push(message, source, now)
            elif isinstance(message, m.Ack):
                self.hop.receive_ack(message, source, now)
            elif isinstance(message, m.Noted):
                self.hop.receive_noted(message)
            elif source == self._server:
                self._receive_from_server(message, now)

    def _receive_from_server(self, message: m.Message, now: int) -> None:
        if isinstance(message, m.Registered) and self._membership.receive_registered(message, now):
            self._end_registration(message, now)
        elif isinstance(message, m.Unregistered):
            self._membership.receive_unregistered(message)
        elif isinstance(message, m.Accepted):
            if self._calls.receive(message, now):
                self._renew(now)
        elif isinstance(message, m.RegisterAgain):
            self._renew(now)

    def _renew(self, now: int) -> None:
        if self.state in (State.REGISTERED, State.OUTSIDE):
            self._membership.renew(now)

    def _end_registration(self, answer: m.Registered, now: int) -> None:
        self._events.append(RegistrationEnded(answer.code, answer.epoch))
        if self.state is State.REGISTERED:
            self.hop.admit(self._membership.id, answer.epoch, answer.key)
            self._calls.resume(answer.epoch, now)
        else:
            self._calls.end_all(Result.UNREGISTERED, now)

    def handle_timer(self, now: int) -> None:
        if self._membership.handle_timer(now):
            self._events.append(RegistrationEnded(-1, 0))
            self._calls.end_all(Result.NO_ANSWER, now)
        self._calls.handle_timer(now)
        self.hop.handle_timer(now)
        if self.state is State.REGISTERED:
            self._show_life(now)

    def _show_life(self, now: int) -> None:
        if self._heard_at + self._silence <= now:
            self._heard_at = now
            self._membership.renew(now)
        elif self._sent_at + self._alive <= now:
            self._send_to_server(m.Alive(self._instance), now)

    def next_timer(self) -> int | None:
        own = self._membership.next_timer(), self._calls.next_timer(), self.hop.next_timer()
        return earliest(*own, self._shows_life_at() if self.state is State.REGISTERED else None)

    def _shows_life_at(self) -> int | None:
        return min(self._heard_at + self._silence, self._sent_at + self._alive)

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        out, self._out = self._out, []
        return out

    def events(self) -> Sequence[NodeEvent]:
        events, self._events = self._events, []
        return events

    # ---- parts of the above

    def _next_req(self) -> int:
        self._reqs = (self._reqs + 1) % (1 << 32)
        return self._reqs

    def _send(self, data: bytes, to: Address) -> None:
        self._out.append((data, to))

    def _send_to_server(self, message: Any, now: int) -> None:
        assert self._server is not None
        self._sent_at = now
        self._send(encode(message), self._server)

    def _deliver(self, delivery: Delivery) -> None:
        assert self._callback is not None
        for context in delivery.contexts:
            self._callback(context, delivery)

    def check_invariants(self) -> None:
        self._calls.check_invariants()
        self.hop.check_invariants()
        if self.state is State.REGISTERED:
            assert self._membership.epoch and self._membership.next_timer() is None
