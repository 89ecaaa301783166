"""The node's end: one connection to one gateway of a list, and the messages that outlive it."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.transport import layouts, secrets
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.transport.connection import Connection
from overlay.systems.contextnet.transport.dial import Dial
from overlay.systems.contextnet.transport.events import Acknowledged, Answered, Arrived, Ended, Ending, Opened, Refused
from overlay.systems.contextnet.transport.layouts import PROOF_BYTES, BadPacket, Refusal, Refuse, Type, Wants
from overlay.systems.contextnet.transport.packets import PROTECTED, Close, Kind, cid_of
from overlay.systems.contextnet.transport.receiver import WINDOW, Receiver, Whole
from overlay.systems.contextnet.transport.sender import Outgoing, Sender
from overlay.systems.contextnet.transport.settings import TransportSettings
from overlay.systems.contextnet.transport.station import Station
from overlay.systems.contextnet.transport.terms import terms_of

_UNPROVEN = (Refusal.FULL, Refusal.BUSY, Refusal.VERSION)
"""Refusals that are believed without a proof, for at most a minute."""
_FINAL = (Ending.DONE, Ending.SUPERSEDED)
"""After them a node does not connect by itself."""


class NodeEnd(Station):
    def __init__(
        self,
        node: bytes,
        secret: bytes,
        epoch: int,
        settings: TransportSettings,
        chance: Chance,
        *,
        deadlines: Deadlines | None = None,
        budget: Budget | None = None,
    ) -> None:
        """``node``: 16 bytes. ``epoch``: the last one used, stored by the driver; see ``epoch``. ``chance`` must not be
        guessable, live."""
        super().__init__(settings, chance, deadlines, budget)
        self._node, self._secret = node, secret
        self._gateways: tuple[Address, ...] = ()
        self._dial = Dial(self, node, secret, epoch)
        self._connection: Connection | None = None
        self._reset_token = b""
        self._resume_cid = 0
        """What is to be resumed: the last connection that a gateway accepted; 0 if there is none."""
        self._sender, self._receiver = Sender(), Receiver(is_durable=False)

    @property
    def epoch(self) -> int:
        """The highest one used."""
        return self._dial.epoch

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def is_heard(self) -> bool:
        """Whether the gateway that it tries has answered, without accepting it so far."""
        return self._dial.is_heard

    # ---- for the user

    def connect(self, gateways: tuple[Address, ...], now: int) -> None:
        """Connect to the first of them that accepts, for ever, and again after the connection ended."""
        if not gateways:
            raise ValueError("a node needs a gateway")
        self.now, self._gateways = now, gateways
        if self._connection is None:
            self._begin()

    def send(self, kind: Kind, data: bytes, token: object, now: int) -> bool:
        """Returns False if too much waits. Messages wait for a connection, too."""
        self.now = now
        if len(self._sender.queue) >= self.settings.queue_per_connection:
            return False
        self._sender.queue.append(Outgoing(kind, data, token))
        if self._connection is not None:
            self._connection.flush()
        return True

    def waiting(self) -> list[object]:
        """The tokens of all messages that are not acknowledged, in order."""
        return [message.token for message in self._sender.undelivered()]

    def ping(self, value: int, now: int) -> bool:
        self.now = now
        if self._connection is not None:
            self._connection.ping(value)
        return self._connection is not None

    def move(self, targets: tuple[Address, ...], now: int) -> None:
        """A hand-over: try each of these gateways once, and leave the present one for the first that accepts."""
        self.now = now
        if self._connection is not None and not self._dial.is_active and targets:
            self._dial.resume_cid, self._dial.wants = 0, self._wants
            self._dial.begin(targets, once=True)

    def suspend(self, now: int) -> None:
        """The network is away: the connection ends without a word. ``connect`` resumes it."""
        self.now, self._gateways = now, ()
        self._dial.stop()
        if self._connection is not None:
            self.closed(self._connection, Ending.BROKEN)

    def close(self, now: int, reason: Close = Close.DONE) -> None:
        """End the connection, and do not connect again. What was not acknowledged is told by ``Ended``."""
        self.now, self._gateways = now, ()
        self._dial.stop()
        if self._connection is not None:
            self._connection.close(reason)

    # ---- for the driver

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.now = now
        for data, source in datagrams:
            try:
                self._receive(data, source)
            except BadPacket as error:
                self.counters[error.reason] += 1
        self._flush()

    def _receive(self, data: bytes, source: Address) -> None:
        kind = layouts.type_of(data)
        connection = self._connection
        if kind in PROTECTED:
            if connection is None or cid_of(data, 8) != connection.cid:
                raise BadPacket("unknown", "no connection has this id")
            connection.receive(data, source)
        elif kind is Type.RESET:
            reset = layouts.read_reset(data)
            if connection is None or (reset.cid, reset.token) != (connection.cid, self._reset_token):
                raise BadPacket("unknown", "a RESET is of no connection")
            self.closed(connection, Ending.RESET)
        elif not self._dial.nonce or source != self._dial.gateway:
            raise BadPacket("unexpected", f"no HELLO asked for {kind.name}")
        elif kind is Type.RETRY:
            retry = layouts.read_retry(data)
            self._check_nonce(retry.nonce)
            self._dial.retry(retry.cookie)
        elif kind is Type.ACCEPT:
            self._accept(data)
        elif kind is Type.REFUSE:
            self._refused(data)
        else:
            raise BadPacket("type", f"{kind.name} is not for a node")

    def _check_nonce(self, nonce: bytes) -> None:
        if nonce != self._dial.nonce:
            raise BadPacket("nonce", "an answer is to another HELLO")

    # ---- handshakes

    def _begin(self) -> None:
        dial = self._dial
        dial.resume_cid = self._resume_cid if self.settings.resume else 0
        dial.wants = self._wants
        dial.begin(self._gateways)

    @property
    def _wants(self) -> int:
        return Wants.RESUME * self.settings.resume | Wants.LONG_TAG * (self.settings.tag_bytes == 16)

    def _accept(self, data: bytes) -> None:
        accept, dial = layouts.read_accept(data), self._dial
        self._check_nonce(accept.client_nonce)
        if not secrets.is_proven(self._secret, b"accept", data):
            raise BadPacket("proof", "an ACCEPT was not made with our secret")
        sender = self._sender
        dial.succeeded(accept.next_cookie)
        self._leave()
        if accept.resumed:
            expected = sender.nearest(accept.expected)
            if expected is None or not self._resume_cid:
                raise BadPacket("ack", f"{accept.expected} acknowledges what was not sent")
            tokens, _, _ = sender.acknowledge(expected, 0)
            self.told += [Acknowledged(self._node, token) for token in tokens]
            sender.resume()
        else:
            sender.restart()
            self._receiver.restart()
        keys = secrets.session_keys(self._secret, accept.client_nonce, accept.server_nonce, accept.cid, self._node)
        terms = terms_of(
            accept.window,
            accept.rto_min_ms,
            accept.ack_delay_ms,
            accept.idle_s,
            16 if dial.wants & Wants.LONG_TAG else 8,
        )
        gateway = dial.gateway
        self._reset_token, self._resume_cid = accept.reset_token, accept.cid
        self._connection = Connection(
            self, self._node, accept.cid, gateway, (keys.to_gateway, keys.to_node), terms, sender, self._receiver
        )
        self.told.append(Opened(self._node, dial.epoch, gateway, accept.resumed))
        self._connection.confirm()

    def _leave(self) -> None:
        """Another gateway has accepted. What is not acknowledged is sent again there."""
        if self._connection is not None:
            gateways, self._gateways = self._gateways, ()
            self._connection.close(Close.MOVED)
            self._gateways = gateways

    def _refused(self, data: bytes) -> None:
        refusal = layouts.read_refuse(data)
        self._check_nonce(refusal.nonce)
        dial = self._dial
        is_proven = secrets.is_proven(self._secret, b"refuse", data)
        if not is_proven and not self._is_believed(refusal, data):
            raise BadPacket("proof", "a REFUSE was not made with our secret")
        self.told.append(Refused(dial.gateway, refusal.code))
        if refusal.code is Refusal.SECRET:
            dial.stop()
        elif refusal.code is Refusal.EPOCH:
            dial.again(refusal.epoch)
        else:
            if is_proven:
                dial.learn(refusal.gateways)
            dial.next_gateway()

    def _is_believed(self, refusal: Refuse, data: bytes) -> bool:
        return refusal.code in _UNPROVEN and refusal.retry_after_s <= 60 and not any(data[-PROOF_BYTES:])

    # ---- what the connection tells

    def confirmed(self, connection: Connection) -> None:
        """``Opened`` was told with the ACCEPT."""

    def arrived(self, connection: Connection, whole: Whole) -> None:
        self.told.append(Arrived(self._node, whole.kind, whole.data, None))

    def acknowledged(self, connection: Connection, tokens: list[object]) -> None:
        self.told += [Acknowledged(self._node, token) for token in tokens]

    def answered(self, connection: Connection, value: int) -> None:
        self.told.append(Answered(self._node, value))

    def broken(self, connection: Connection) -> None:
        self.closed(connection, Ending.BROKEN)

    def closed(self, connection: Connection, reason: Ending) -> None:
        connection.stop()
        self._connection = None
        self.told.append(Ended(self._node, self.epoch, reason, tuple(self.waiting())))
        if reason not in (Ending.BROKEN, Ending.RESET):
            self._resume_cid = 0
        if self._gateways and reason not in _FINAL:
            self._begin()
        else:
            self._dial.is_once = False  # while it moves, its target may be the reason

    def check_invariants(self) -> None:
        # What was under way waits again where a connection resumed none.
        assert len(self._sender.queue) <= self.settings.queue_per_connection + WINDOW
        assert self._connection is None or self._dial.is_once or not self._dial.is_active
        if self._connection is not None:
            self._connection.check_invariants()
