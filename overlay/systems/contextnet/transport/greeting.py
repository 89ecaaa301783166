"""What a gateway answers to HELLOs: RETRY until a cookie proves the address, then ACCEPT or REFUSE."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.systems.contextnet.transport import layouts, packets, secrets
from overlay.systems.contextnet.transport.admission import Admission, Rate
from overlay.systems.contextnet.transport.connection import Connection
from overlay.systems.contextnet.transport.layouts import BadPacket, Hello, Refusal, Refuse, Wants
from overlay.systems.contextnet.transport.members import Member, Members
from overlay.systems.contextnet.transport.settings import ANSWERS_PER_S, HANDSHAKES_PER_S, MOST_MESSAGE, SAME_ACCEPT
from overlay.systems.contextnet.transport.station import Station
from overlay.systems.contextnet.transport.terms import Terms, terms_of


class Secret(NamedTuple):
    """Of a node, 32 bytes."""

    key: bytes
    is_revoked: bool = False


class Greeting:
    def __init__(
        self,
        station: Station,
        members: Members,
        secret: bytes,
        secret_of: Callable[[bytes], Secret | None],
        admission: Admission | None,
        is_durable: bool,
        replace: Callable[[bytes], None],
    ) -> None:
        """``replace``: ends the connection of a node that does not resume it."""
        self._station, self._members, self._replace = station, members, replace
        self._secret, self._secret_of = secret, secret_of
        self._cookies = secrets.Cookies(secret)
        self._is_durable, self._admission = is_durable, admission
        self.gateways: tuple[Address, ...] = ()
        """Alternatives, told in ACCEPT and REFUSE."""
        self.wall_offset = 0
        self.is_leaving = False
        """Whether new connections are refused."""
        self._handshakes, self._accepts = Rate(HANDSHAKES_PER_S), Rate(station.settings.accept_per_s)
        self._versions = Rate(ANSWERS_PER_S)

    def hello(self, data: bytes, source: Address) -> None:
        hello = layouts.read_hello(data)
        if self._admission is not None and not self._admission.may_greet(source[0], self._station.now):
            raise BadPacket("hello rate", f"too many HELLOs come from {source[0]}")
        wall = self._station.now + self.wall_offset
        if not self._cookies.is_good(hello.cookie, source, hello.node, hello.nonce, self._station.now, wall):
            cookie = self._cookies.now(source, hello.node, hello.nonce, self._station.now)
            self._station.out.append((layouts.write_retry(layouts.Retry(hello.nonce, cookie)), source))
            return
        if not self._handshakes.take(self._station.now):
            raise BadPacket("handshakes", "too many handshakes a second")
        secret = self._secret_of(hello.node)
        if secret is None:
            self._refuse(hello.nonce, source, None, Refusal.SECRET)
            return
        if not secrets.is_proven(secret.key, b"hello", data):
            raise BadPacket("proof", "a HELLO was not made with the secret of its node")
        if not self.is_allowed(source):
            self._refuse(hello.nonce, source, secret.key, Refusal.SECRET)
            return
        member, highest = self._members.by_node.get(hello.node), self._members.epoch_of(hello.node)
        if member is not None and (member.epoch, member.nonce) == (hello.epoch, hello.nonce):
            if not member.accept or self._station.now - member.accepted_at >= SAME_ACCEPT:
                raise BadPacket("late", "a HELLO came again too late")
            self._station.out.append((member.accept, source))
        elif secret.is_revoked:
            self._refuse(hello.nonce, source, secret.key, Refusal.SECRET)
        elif hello.epoch <= highest:
            self._refuse(hello.nonce, source, secret.key, Refusal.EPOCH, epoch=highest)
        elif not hello.wants & Wants.LONG_TAG and self._station.settings.tag_bytes == 16:
            self._refuse(hello.nonce, source, secret.key, Refusal.VERSION)
        elif self.is_leaving or not self._has_room(member, source):
            self._refuse(hello.nonce, source, secret.key, Refusal.FULL, retry_after_s=1)
        elif not self._accepts.take(self._station.now):
            self._refuse(hello.nonce, source, secret.key, Refusal.BUSY, retry_after_s=1)
        else:
            self._accept(hello, source, secret.key)

    def is_allowed(self, source: Address) -> bool:
        return self._admission is None or self._admission.is_allowed(source[0])

    def _has_room(self, member: Member | None, source: Address) -> bool:
        """For one more connection from this host, or one that takes the place of another."""
        host = source[0]
        is_room = member is not None or len(self._members.by_node) < self._station.settings.max_connections
        is_new = member is None or member.host != host
        return is_room and (
            not is_new or self._admission is None or self._admission.may_join(host, self._members.of_host(host))
        )

    def _accept(self, hello: Hello, source: Address, secret: bytes) -> None:
        settings, node, member = self._station.settings, hello.node, self._members.by_node.get(hello.node)
        resumed = bool(
            member is not None
            and settings.resume
            and hello.wants & Wants.RESUME
            and hello.resume_cid in member.resumable
        )
        if member is not None and not resumed:
            self._replace(node)
            member = None
        if member is None:
            member = self._members.add(node, self._is_durable)
        self._members.retire(member)
        member.sender.resume()
        cid, server_nonce = self._draw_cid(), self._station.draw(16)
        member.epoch, member.nonce, member.accepted_at = hello.epoch, hello.nonce, self._station.now
        member.resumable = (hello.resume_cid, cid) if resumed else (cid,)
        member.resumed = resumed
        data = layouts.write_accept(self._terms(hello, source, cid, server_nonce, resumed, member.receiver.ack))
        member.accept = data + secrets.proof(secret, b"accept", data)
        keys = secrets.session_keys(secret, hello.nonce, server_nonce, cid, node)
        terms = self._agreed(16 if hello.wants & Wants.LONG_TAG else 8)
        connection = Connection(
            self._station, node, cid, source, (keys.to_node, keys.to_gateway), terms, member.sender, member.receiver
        )
        self._members.join(node, member, connection)
        self._station.out.append((member.accept, source))

    def _agreed(self, tag_bytes: int) -> Terms:
        found = self._station.settings
        return terms_of(found.window, found.rto_min_ms, found.ack_delay_ms, found.idle_s, tag_bytes)

    def _terms(
        self, hello: Hello, source: Address, cid: int, server_nonce: bytes, resumed: bool, expected: int
    ) -> layouts.Accept:
        settings = self._station.settings
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
            next_cookie=self._cookies.later(source, hello.node, self._station.now + self.wall_offset),
            gateways=self.gateways,
        )

    def _draw_cid(self) -> int:
        while True:
            if cid := self._members.cid(self._station.chance.randrange(1 << 48)):
                return cid

    def _refuse(
        self, nonce: bytes, to: Address, secret: bytes | None, code: Refusal, epoch: int = 0, retry_after_s: int = 0
    ) -> None:
        """``secret``: of a known node."""
        data = layouts.write_refuse(Refuse(nonce, code, retry_after_s, epoch, self.gateways))
        self._station.out.append((data + (secrets.proof(secret, b"refuse", data) if secret else bytes(16)), to))
        self._station.counters[f"refused {code.name.lower()}"] += 1

    def refuse_version(self, data: bytes, source: Address) -> None:
        """Only what is as long as a HELLO: the answer is shorter than three times that."""
        if len(data) >= layouts.HELLO_BYTES and self._versions.take(self._station.now):
            self._refuse(data[21:37], source, None, Refusal.VERSION)
