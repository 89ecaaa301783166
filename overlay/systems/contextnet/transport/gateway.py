"""The gateway's end: handshakes without state until a cookie proves the address, epochs, lingering, resumption.

::

    absent ── HELLO with a cookie ──> open <─> validating ── broken ──> lingering ── linger_s ──> absent
                                       ^                                   │
                                       └──── HELLO that resumes it ────────┘
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import SECOND
from overlay.systems.contextnet.transport import layouts, packets, secrets
from overlay.systems.contextnet.transport.admission import Admission, Rate
from overlay.systems.contextnet.transport.connection import ENDINGS, Connection, Terms, terms_of
from overlay.systems.contextnet.transport.events import (
    Acknowledged,
    Answered,
    Arrived,
    Ended,
    Ending,
    Lingering,
    Moved,
    Opened,
    Receipt,
    Repeating,
)
from overlay.systems.contextnet.transport.layouts import BadPacket, Hello, Refusal, Refuse, Type, Wants
from overlay.systems.contextnet.transport.packets import Close, Kind
from overlay.systems.contextnet.transport.receiver import Receiver, Whole
from overlay.systems.contextnet.transport.sender import Outgoing, Sender
from overlay.systems.contextnet.transport.settings import (
    ANSWERS_PER_S,
    BYTES_PER_S,
    HANDSHAKES_PER_S,
    MESSAGES_PER_S,
    MOST_AHEAD,
    MOST_MESSAGE,
    SAME_ACCEPT,
    TOO_FAR_AHEAD,
    TransportSettings,
)
from overlay.systems.contextnet.transport.station import Station


class Secret(NamedTuple):
    """Of a node, 32 bytes."""

    key: bytes
    is_revoked: bool = False


_KNOWN_EPOCHS: Final = 100_000
"""Nodes without a connection of which the epoch is remembered, the newest ones."""


class Member:
    """A node with a connection, open or lingering."""

    __slots__ = (
        *("accept", "accepted_at", "connection", "epoch", "host", "is_told", "nonce", "receiver", "resumable"),
        *("resumed", "sender", "spent_at", "stream"),
    )

    def __init__(self, stream: int, is_durable: bool) -> None:
        self.stream = stream
        self.sender, self.receiver = Sender(), Receiver(is_durable)
        self.connection: Connection | None = None
        self.epoch, self.nonce, self.host = 0, b"", ""
        self.accept, self.accepted_at = b"", 0
        """The ACCEPT of the last HELLO."""
        self.resumable: set[int] = set()
        """The cids that a HELLO may resume: also the last one until the new one is heard."""
        self.resumed = False
        self.is_told = False
        """Whether its user knows of it."""
        self.spent_at = 0
        """Until when the messages that it sent would have lasted, at the rate that a node may have."""

    @property
    def is_open(self) -> bool:
        """Told, and not lingering."""
        return self.is_told and self.connection is not None and self.connection.is_open


class GatewayEnd(Station):
    is_gateway = True

    def __init__(
        self,
        number: int,
        secret: bytes,
        secret_of: Callable[[bytes], Secret | None],
        settings: TransportSettings,
        chance: Chance,
        *,
        is_durable: bool = True,
        admission: Admission | None = None,
        gateways: tuple[Address, ...] = (),
        wall_offset: int = 0,
        deadlines: Deadlines | None = None,
    ) -> None:
        """``number``: of this gateway, 16 bits. ``secret`` outlives restarts. ``is_durable``: messages of nodes are
        acknowledged after ``settle``, and broken connections linger. ``admission``: limits by host; ``None``: there are
        none. ``chance`` must not be guessable, live."""
        super().__init__(settings, chance, deadlines, None)
        self._prefix, self._secret, self._secret_of = number << 48, secret, secret_of
        self._cookies = secrets.Cookies(secret)
        self._is_durable, self._admission = is_durable, admission
        self.gateways = gateways
        """Alternatives, told in ACCEPT and REFUSE."""
        self.wall_offset = wall_offset
        self.is_leaving = False
        """Whether new connections are refused."""
        self.members: dict[bytes, Member] = {}
        self._by_cid: dict[int, Connection] = {}
        self._epochs: dict[bytes, int] = {}
        self._hosts: Counter[str] = Counter()
        """Connections by host, as they were accepted."""
        self._streams = 0
        self._handshakes, self._accepts = Rate(HANDSHAKES_PER_S), Rate(settings.accept_per_s)
        self._resets, self._versions = Rate(ANSWERS_PER_S), Rate(ANSWERS_PER_S)

    # ---- for the user

    def send(self, node: bytes, kind: Kind, data: bytes, token: object, now: int) -> bool:
        """Returns False if the node has no connection, or too much waits for it."""
        self.now = now
        member = self.members.get(node)
        if member is None or len(member.sender.queue) >= self.settings.queue_per_connection:
            return False
        member.sender.queue.append(Outgoing(kind, data, token))
        if member.connection is not None:
            member.connection.flush()
        return True

    def settle(self, receipt: Receipt, now: int) -> None:
        """The record of a message is durable."""
        self.now = now
        member = self.members.get(receipt.node)
        if member is not None and member.stream == receipt.stream and member.receiver.settle(receipt.sequence):
            if member.connection is not None:
                member.connection.settled()
            self._flush()

    def ping(self, node: bytes, value: int, now: int) -> bool:
        self.now = now
        member = self.members.get(node)
        if member is None or member.connection is None or not member.connection.is_open:
            return False
        member.connection.ping(value)
        return True

    def close(self, node: bytes, reason: Close, now: int) -> None:
        self.now = now
        member = self.members.get(node)
        if member is not None and member.connection is not None:
            if member.connection.is_open:
                member.connection.close(reason)
            else:
                self.closed(member.connection, ENDINGS[reason])

    def learn_epoch(self, node: bytes, epoch: int, now: int) -> None:
        """The node was seen elsewhere, with this epoch."""
        member = self.members.get(node)
        if member is not None and member.epoch < epoch:
            self.close(node, Close.SUPERSEDED, now)
        if epoch > self.epoch_of(node):
            self._remember(node, epoch)

    def epoch_of(self, node: bytes) -> int:
        """The highest known; 0 if there is none, so that epochs begin with 1."""
        member = self.members.get(node)
        return max(member.epoch if member is not None else 0, self._epochs.get(node, 0))

    def knows(self, address: Address) -> bool:
        """Whether a connection was accepted from this host."""
        return address[0] in self._hosts

    def present(self) -> list[bytes]:
        """The nodes that are open or lingering."""
        return [node for node, member in self.members.items() if member.is_told]

    def opened(self) -> list[bytes]:
        """The nodes that are open."""
        return [node for node, member in self.members.items() if member.is_open]

    def is_open(self, node: bytes) -> bool:
        """Whether the node is known to be there, and does not linger."""
        member = self.members.get(node)
        return member is not None and member.is_open

    def is_slow(self, node: bytes) -> bool:
        """Whether what is sent to this node, which has a connection, will wait for it."""
        connection = self.members[node].connection
        return connection is None or connection.is_slow

    def undelivered(self, node: bytes) -> list[object]:
        """The tokens of the messages for a node with a connection that it has not acknowledged, in order."""
        return [message.token for message in self.members[node].sender.undelivered()]

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
        if data and data[0] >> 4 != layouts.VERSION:
            self._refuse_version(data, source)
        kind = layouts.type_of(data)
        if kind is Type.HELLO:
            self._hello(data, source)
        elif kind in packets.PROTECTED:
            cid = packets.cid_of(data, 8)
            connection = self._by_cid.get(cid)
            if connection is None:
                self._reset(cid, source)
                raise BadPacket("unknown", "no connection has this id")
            if connection.is_open:
                connection.receive(data, source)
            else:
                packets.read_packet(data, connection.key_in, connection.terms.tag_bytes)
                self._reset(cid, source)
        else:
            raise BadPacket("type", f"{kind.name} is not for a gateway")

    def _reset(self, cid: int, source: Address) -> None:
        if self._resets.take(self.now):
            token = secrets.reset_token(self._secret, cid)
            self.out.append((layouts.write_reset(layouts.Reset(cid, token)), source))

    # ---- handshakes

    def _hello(self, data: bytes, source: Address) -> None:
        hello = layouts.read_hello(data)
        if self._admission is not None and not self._admission.may_greet(source[0], self.now):
            raise BadPacket("hello rate", f"too many HELLOs come from {source[0]}")
        wall = self.now + self.wall_offset
        if not self._cookies.is_good(hello.cookie, source, hello.node, hello.nonce, self.now, wall):
            cookie = self._cookies.now(source, hello.node, hello.nonce, self.now)
            self.out.append((layouts.write_retry(layouts.Retry(hello.nonce, cookie)), source))
            return
        if not self._handshakes.take(self.now):
            raise BadPacket("handshakes", "too many handshakes a second")
        secret = self._secret_of(hello.node)
        if secret is None:
            self._refuse(hello.nonce, source, None, Refusal.SECRET)
            return
        if not secrets.is_proven(secret.key, b"hello", data):
            raise BadPacket("proof", "a HELLO was not made with the secret of its node")
        if not self._is_allowed(source):
            self._refuse(hello.nonce, source, secret.key, Refusal.SECRET)
            return
        member, highest = self.members.get(hello.node), self.epoch_of(hello.node)
        if member is not None and (member.epoch, member.nonce) == (hello.epoch, hello.nonce):
            if self.now - member.accepted_at >= SAME_ACCEPT:
                raise BadPacket("late", "a HELLO came again too late")
            self.out.append((member.accept, source))
        elif secret.is_revoked:
            self._refuse(hello.nonce, source, secret.key, Refusal.SECRET)
        elif hello.epoch <= highest:
            self._refuse(hello.nonce, source, secret.key, Refusal.EPOCH, epoch=highest)
        elif not hello.wants & Wants.LONG_TAG and self.settings.tag_bytes == 16:
            self._refuse(hello.nonce, source, secret.key, Refusal.VERSION)
        elif self.is_leaving or not self._has_room(member, source):
            self._refuse(hello.nonce, source, secret.key, Refusal.FULL, retry_after_s=1)
        elif not self._accepts.take(self.now):
            self._refuse(hello.nonce, source, secret.key, Refusal.BUSY, retry_after_s=1)
        else:
            self._accept(hello, source, secret.key)

    def _is_allowed(self, source: Address) -> bool:
        return self._admission is None or self._admission.is_allowed(source[0])

    def _has_room(self, member: Member | None, source: Address) -> bool:
        """For one more connection from this host, or one that takes the place of another."""
        host = source[0]
        is_room = member is not None or len(self.members) < self.settings.max_connections
        is_new = member is None or member.host != host
        return is_room and (not is_new or self._admission is None or self._admission.may_join(host, self._hosts[host]))

    def _accept(self, hello: Hello, source: Address, secret: bytes) -> None:
        settings, node, member = self.settings, hello.node, self.members.get(hello.node)
        resumed = bool(
            member is not None
            and settings.resume
            and hello.wants & Wants.RESUME
            and hello.resume_cid in member.resumable
        )
        if member is not None and not resumed:
            self._end(node, member, Ending.REPLACED)
            member = None
        if member is None:
            self._streams += 1
            member = self.members[node] = Member(self._streams, self._is_durable)
        self._retire(member)
        member.sender.resume()
        cid, server_nonce = self._draw_cid(), self.draw(16)
        member.epoch, member.nonce, member.accepted_at = hello.epoch, hello.nonce, self.now
        member.resumable = {hello.resume_cid, cid} if resumed else {cid}
        member.resumed = resumed
        data = layouts.write_accept(self._terms(hello, source, cid, server_nonce, resumed, member.receiver.ack))
        member.accept = data + secrets.proof(secret, b"accept", data)
        keys = secrets.session_keys(secret, hello.nonce, server_nonce, cid, node)
        terms = self._agreed(16 if hello.wants & Wants.LONG_TAG else 8)
        member.connection = self._by_cid[cid] = Connection(
            self, node, cid, source, (keys.to_node, keys.to_gateway), terms, member.sender, member.receiver
        )
        member.host = source[0]
        self._hosts[member.host] += 1
        self._epochs.pop(node, None)
        self.out.append((member.accept, source))

    def _agreed(self, tag_bytes: int) -> Terms:
        found = self.settings
        return terms_of(found.window, found.rto_min_ms, found.ack_delay_ms, found.idle_s, tag_bytes)

    def _terms(
        self, hello: Hello, source: Address, cid: int, server_nonce: bytes, resumed: bool, expected: int
    ) -> layouts.Accept:
        settings = self.settings
        return layouts.Accept(
            cid=cid,
            server_nonce=server_nonce,
            client_nonce=hello.nonce,
            resumed=resumed,
            expected=expected & packets.LOW,
            idle_s=settings.idle_s,
            ack_delay_ms=settings.ack_delay_ms,
            window=settings.window,
            rto_min_ms=settings.rto_min_ms,
            max_message=MOST_MESSAGE,
            reset_token=secrets.reset_token(self._secret, cid),
            next_cookie=self._cookies.later(source, hello.node, self.now + self.wall_offset),
            gateways=self.gateways,
        )

    def _draw_cid(self) -> int:
        while True:
            cid = self._prefix | self.chance.randrange(1 << 48)
            if cid and cid not in self._by_cid:
                return cid

    def _refuse(
        self, nonce: bytes, to: Address, secret: bytes | None, code: Refusal, epoch: int = 0, retry_after_s: int = 0
    ) -> None:
        """``secret``: of a known node."""
        data = layouts.write_refuse(Refuse(nonce, code, retry_after_s, epoch, self.gateways))
        self.out.append((data + (secrets.proof(secret, b"refuse", data) if secret else bytes(16)), to))
        self.counters[f"refused {code.name.lower()}"] += 1

    def _refuse_version(self, data: bytes, source: Address) -> None:
        """Only what is as long as a HELLO: the answer is shorter than three times that."""
        if len(data) >= layouts.HELLO_BYTES and self._versions.take(self.now):
            self._refuse(data[21:37], source, None, Refusal.VERSION)

    # ---- epochs

    def _remember(self, node: bytes, epoch: int) -> None:
        self._epochs.pop(node, None)
        self._epochs[node] = epoch
        if len(self._epochs) > _KNOWN_EPOCHS:
            del self._epochs[next(iter(self._epochs))]

    # ---- what connections tell

    def confirmed(self, connection: Connection) -> None:
        member = self.members[connection.node]
        member.resumable = {connection.cid}
        member.is_told = True
        self.told.append(Opened(connection.node, member.epoch, None, member.resumed))

    def repeating(self, connection: Connection) -> None:
        self.told.append(Repeating(connection.node))

    def arrived(self, connection: Connection, whole: Whole) -> None:
        node = connection.node
        if not self._may_send(connection, len(whole.data)):
            return
        needs_receipt = self._is_durable and whole.kind in (Kind.MESSAGE, Kind.CONTEXT)
        receipt = Receipt(node, self.members[node].stream, whole.sequence) if needs_receipt else None
        self.told.append(Arrived(node, whole.kind, whole.data, receipt))

    def _may_send(self, connection: Connection, size: int) -> bool:
        """Above its rate a node is told that we are busy; one that goes on is closed."""
        member = self.members[connection.node]
        cost = max(SECOND // MESSAGES_PER_S, size * SECOND // BYTES_PER_S)
        member.spent_at = max(member.spent_at, self.now) + cost
        ahead = member.spent_at - self.now
        connection.is_restrained = ahead > MOST_AHEAD
        if ahead > TOO_FAR_AHEAD:
            self.counters["rate of a node"] += 1
            connection.close(Close.PROTOCOL)
            return False
        return True

    def acknowledged(self, connection: Connection, tokens: list[object]) -> None:
        self.told += [Acknowledged(connection.node, token) for token in tokens]

    def answered(self, connection: Connection, value: int) -> None:
        self.told.append(Answered(connection.node, value))

    def moved(self, connection: Connection) -> None:
        if not self._is_allowed(connection.address):
            connection.close(Close.PROTOCOL)
            return
        self.told.append(Moved(connection.node, connection.address))

    def broken(self, connection: Connection) -> None:
        node, settings = connection.node, self.settings
        member = self.members[node]
        if connection.is_open and self._is_durable and settings.resume and settings.linger_s:
            connection.linger(self.now + settings.linger_s * SECOND)
            self.told.append(Lingering(node, member.epoch))
        else:
            self._end(node, member, Ending.BROKEN)

    def closed(self, connection: Connection, reason: Ending) -> None:
        self._end(connection.node, self.members[connection.node], reason)

    def _end(self, node: bytes, member: Member, reason: Ending) -> None:
        self._retire(member)
        del self.members[node]
        self._remember(node, max(member.epoch, self._epochs.get(node, 0)))
        tokens = tuple(message.token for message in member.sender.undelivered())
        if member.is_told or tokens:
            self.told.append(Ended(node, member.epoch, reason, tokens))

    def _retire(self, member: Member) -> None:
        if member.connection is not None:
            member.connection.stop()
            del self._by_cid[member.connection.cid]
            member.connection = None
            self._hosts[member.host] -= 1
            if not self._hosts[member.host]:
                del self._hosts[member.host]

    def check_invariants(self) -> None:
        connections = [member.connection for member in self.members.values() if member.connection is not None]
        assert {connection.cid: connection for connection in connections} == self._by_cid
        assert Counter(member.host for member in self.members.values()) == self._hosts
        assert len(connections) == len(self.members) <= self.settings.max_connections
        assert len(self._epochs) <= _KNOWN_EPOCHS
        for node, member in self.members.items():
            assert self._epochs.get(node, 0) <= member.epoch, "the highest epoch wins"
            assert len(member.sender.queue) <= self.settings.queue_per_connection
        for connection in connections:
            connection.check_invariants()
        self.budget.check_invariants(sum(connection.is_open for connection in connections))
