"""What a gateway answers to HELLOs: RETRY until a cookie proves the address, then ACCEPT or REFUSE."""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.systems.contextnet.transport import layouts, packets, secrets
from overlay.systems.contextnet.transport.admission import Rate
from overlay.systems.contextnet.transport.connection import Connection
from overlay.systems.contextnet.transport.gate import Gate, Newcomer, refusal_of
from overlay.systems.contextnet.transport.layouts import BadPacket, Refusal, Wants
from overlay.systems.contextnet.transport.members import Member, Members
from overlay.systems.contextnet.transport.settings import ANSWERS_PER_S, MOST_MESSAGE, SAME_ACCEPT
from overlay.systems.contextnet.transport.station import Station
from overlay.systems.contextnet.transport.terms import Terms, terms_of


class Greeting:
    def __init__(self, station: Station, members: Members, gate: Gate, secret: bytes) -> None:
        """``secret``: of the gateway."""
        self._station, self._members, self._gate, self._secret = station, members, gate, secret
        self._cookies = secrets.Cookies(secret)
        self._versions = Rate(ANSWERS_PER_S)

    def hello(self, data: bytes, source: Address) -> None:
        hello, gate, now = layouts.read_hello(data), self._gate, self._station.now
        gate.greet(source[0], now)
        if not self._cookies.is_good(hello.cookie, source, hello.node, hello.nonce, now, now + gate.wall_offset):
            cookie = self._cookies.now(source, hello.node, hello.nonce, now)
            self._station.out.append((layouts.write_retry(layouts.Retry(hello.nonce, cookie)), source))
            return
        gate.begin(now)
        secret = gate.secret_of(hello.node)
        if secret is None:
            self._refuse(hello.nonce, source, None, Refusal.SECRET)
            return
        if not secrets.is_proven(secret.key, b"hello", data):
            raise BadPacket("proof", "a HELLO was not made with the secret of its node")
        if not gate.is_allowed(source):
            self._refuse(hello.nonce, source, secret.key, Refusal.SECRET)
            return
        member = self._members.by_node.get(hello.node)
        if member is not None and (member.epoch, member.nonce) == (hello.epoch, hello.nonce):
            if not member.accept or now - member.accepted_at >= SAME_ACCEPT:
                raise BadPacket("late", "a HELLO came again too late")
            self._station.out.append((member.accept, source))
            return
        found = Newcomer(hello.node, hello.epoch, hello.nonce, hello.resume_cid, hello.wants, source[0])
        code = gate.refusal(found, secret.is_revoked, now)
        if code is None:
            self._accept(found, source, secret.key)
        else:
            self._refuse(hello.nonce, source, secret.key, code, self._members.epoch_of(hello.node))

    def _accept(self, found: Newcomer, source: Address, secret: bytes) -> None:
        member, cid = self._gate.admit(found, self._station.now)
        server_nonce = self._station.draw(16)
        data = layouts.write_accept(self._terms(found, member, source, cid, server_nonce))
        member.accept = data + secrets.proof(secret, b"accept", data)
        keys = secrets.session_keys(secret, found.nonce, server_nonce, cid, found.node)
        terms = self._agreed(16 if found.wants & Wants.LONG_TAG else 8)
        connection = Connection(
            self._station,
            found.node,
            cid,
            source,
            (keys.to_node, keys.to_gateway),
            terms,
            member.sender,
            member.receiver,
        )
        self._members.join(found.node, member, connection)
        self._station.out.append((member.accept, source))

    def _agreed(self, tag_bytes: int) -> Terms:
        found = self._station.settings
        return terms_of(found.window, found.rto_min_ms, found.ack_delay_ms, found.idle_s, tag_bytes)

    def _terms(self, found: Newcomer, member: Member, source: Address, cid: int, server_nonce: bytes) -> layouts.Accept:
        settings = self._station.settings
        return layouts.Accept(
            cid=cid,
            server_nonce=server_nonce,
            client_nonce=found.nonce,
            resumed=member.resumed,
            expected=member.receiver.ack & packets.LOW,
            idle_s=settings.idle_s,
            ack_delay_ms=settings.ack_delay_ms,
            window=settings.window,
            rto_min_ms=settings.rto_min_ms,
            max_message=MOST_MESSAGE,
            reset_token=secrets.reset_token(self._secret, cid),
            next_cookie=self._cookies.later(source, found.node, self._station.now + self._gate.wall_offset),
            gateways=self._gate.gateways,
        )

    def _refuse(self, nonce: bytes, to: Address, secret: bytes | None, code: Refusal, highest: int = 0) -> None:
        """``secret``: of a known node. ``highest``: the epoch to exceed."""
        data = layouts.write_refuse(refusal_of(nonce, code, highest, self._gate.gateways))
        self._station.out.append((data + (secrets.proof(secret, b"refuse", data) if secret else bytes(16)), to))
        self._station.counters[f"refused {code.name.lower()}"] += 1

    def refuse_version(self, data: bytes, source: Address) -> None:
        """Only what is as long as a HELLO: the answer is shorter than three times that."""
        if len(data) >= layouts.HELLO_BYTES and self._versions.take(self._station.now):
            self._refuse(data[21:37], source, None, Refusal.VERSION)
