"""What a node's end does over either transport: one connection to one gateway of a list, and the messages that
outlive it."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.transport.dial import Dial
from overlay.systems.contextnet.transport.events import Acknowledged, Answered, Arrived, Ended, Ending, Opened, Refused
from overlay.systems.contextnet.transport.layouts import BadPacket, Refusal, Refuse, Wants
from overlay.systems.contextnet.transport.line import Line
from overlay.systems.contextnet.transport.packets import Close, Kind
from overlay.systems.contextnet.transport.receiver import WINDOW, Receiver, Whole
from overlay.systems.contextnet.transport.sender import Outgoing, Sender
from overlay.systems.contextnet.transport.settings import TransportSettings
from overlay.systems.contextnet.transport.station import Station

_FINAL = (Ending.DONE, Ending.SUPERSEDED)
"""After them a node does not connect by itself."""


class Calling(Station):
    def __init__(
        self,
        node: bytes,
        secret: bytes,
        epoch: int,
        settings: TransportSettings,
        chance: Chance,
        waits: tuple[int, ...],
        deadlines: Deadlines | None,
        budget: Budget | None,
    ) -> None:
        """``waits``: as ``Dial`` has them."""
        super().__init__(settings, chance, deadlines, budget)
        self._node, self._secret = node, secret
        self._gateways: tuple[Address, ...] = ()
        self._dial = Dial(self, epoch, self._greet, waits)
        self._connection: Line | None = None
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

    @property
    def names(self) -> tuple[bytes, ...]:
        """What the datagrams for it now are known by, in a socket that it shares with other nodes (``name_of``)."""
        connection, nonce = self._connection, self._dial.nonce
        cids = () if connection is None else (connection.cid.to_bytes(8, "big"),)
        return (*cids, nonce) if nonce else cids

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
        """Raises ``BadPacket``."""
        raise NotImplementedError

    # ---- handshakes

    def _greet(self) -> None:
        """Send a HELLO to the gateway of ``_dial``."""
        raise NotImplementedError

    def _begin(self) -> None:
        dial = self._dial
        dial.resume_cid = self._resume_cid if self.settings.resume else 0
        dial.wants = self._wants
        dial.begin(self._gateways)

    @property
    def _wants(self) -> int:
        return Wants.RESUME * self.settings.resume | Wants.LONG_TAG * (self.settings.tag_bytes == 16)

    def _accepted(self, resumed: bool, expected: int, next_cookie: bytes) -> None:
        """By the gateway of ``_dial``, which expects this sequence next. Raises ``BadPacket``."""
        sender = self._sender
        self._dial.succeeded(next_cookie)
        self._leave()
        if resumed:
            nearest = sender.nearest(expected)
            if nearest is None or not self._resume_cid:
                raise BadPacket("ack", f"{expected} acknowledges what was not sent")
            tokens, _, _ = sender.acknowledge(nearest, 0)
            self.told += [Acknowledged(self._node, token) for token in tokens]
            sender.resume()
        else:
            sender.restart()
            self._receiver.restart()

    def _join(self, connection: Line, resumed: bool) -> None:
        self._resume_cid, self._connection = connection.cid, connection
        self.told.append(Opened(self._node, self._dial.epoch, connection.address, resumed))
        connection.confirm()

    def _leave(self) -> None:
        """Another gateway has accepted. What is not acknowledged is sent again there."""
        if self._connection is not None:
            gateways, self._gateways = self._gateways, ()
            self._connection.close(Close.MOVED)
            self._gateways = gateways

    def _refused(self, refusal: Refuse, is_proven: bool) -> None:
        """What is not proven is only heard."""
        dial = self._dial
        self.told.append(Refused(dial.gateway, refusal.code))
        if refusal.code is Refusal.SECRET:
            dial.stop()
        elif refusal.code is Refusal.EPOCH:
            dial.again(refusal.epoch)
        else:
            if is_proven:
                dial.learn(refusal.gateways)
            dial.next_gateway(refusal.retry_after_s)

    # ---- what the connection tells

    def confirmed(self, connection: Line) -> None:
        """``Opened`` was told with the ACCEPT."""

    def arrived(self, connection: Line, whole: Whole) -> None:
        self.told.append(Arrived(self._node, whole.kind, whole.data, None))

    def acknowledged(self, connection: Line, tokens: list[object]) -> None:
        self.told += [Acknowledged(self._node, token) for token in tokens]

    def answered(self, connection: Line, value: int) -> None:
        self.told.append(Answered(self._node, value))

    def broken(self, connection: Line) -> None:
        self.closed(connection, Ending.BROKEN)

    def closed(self, connection: Line, reason: Ending) -> None:
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
