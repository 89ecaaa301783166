"""The gateway's end over QUIC: addresses are proven by Retry before anything is kept, and HELLO names the node."""

from __future__ import annotations

from collections.abc import Callable

from aioquic._buffer import Buffer
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import (
    QuicHeader,
    QuicPacketType,
    encode_quic_retry,
    encode_quic_version_negotiation,
    pull_quic_header,
)
from aioquic.quic.retry import QuicRetryTokenHandler

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.quic import frames, terms
from overlay.systems.contextnet.quic.board import Board
from overlay.systems.contextnet.quic.certificate import make_identity
from overlay.systems.contextnet.quic.frames import Frame
from overlay.systems.contextnet.quic.line import QuicLine
from overlay.systems.contextnet.transport import layouts, secrets
from overlay.systems.contextnet.transport.admission import Admission, Rate
from overlay.systems.contextnet.transport.gate import Newcomer, Secret, refusal_of
from overlay.systems.contextnet.transport.layouts import PROOF_BYTES, BadPacket, Refusal, Type, refuse
from overlay.systems.contextnet.transport.packets import LOW
from overlay.systems.contextnet.transport.serving import Serving
from overlay.systems.contextnet.transport.settings import ANSWERS_PER_S, TransportSettings

LEAST_INITIAL = 1_200
"""Bytes of a datagram that begins a connection (RFC 9000, section 14.1)."""


class QuicGatewayEnd(Serving):
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
        """As ``transport.gateway.GatewayEnd``, with a certificate of its own."""
        super().__init__(
            number,
            secret_of,
            settings,
            chance,
            is_durable,
            admission,
            gateways,
            wall_offset,
            deadlines,
            terms.HANDSHAKES_PER_S,
        )
        identity = make_identity()
        self.digest = identity.digest
        """SHA-256 of the certificate."""
        self._secret = secret
        self._configuration = terms.of_gateway(identity, settings.idle_s)
        self._tokens = QuicRetryTokenHandler()
        self._board = Board(self._secured, self._greeted, self._lost)
        self._answers = Rate(ANSWERS_PER_S)

    # ---- datagrams

    def _receive(self, data: bytes, source: Address) -> None:
        try:
            header = pull_quic_header(Buffer(data=data), host_cid_length=terms.CID_BYTES)
        except ValueError as error:
            raise BadPacket("header", str(error)) from None
        line = self._board.by_cid.get(header.destination_cid)
        if line is not None:
            line.receive(data, source)
        elif header.version is None:
            self._reset(header.destination_cid, len(data), source)
            refuse("unknown", "no connection has this id")
        else:
            self._begin(header, data, source)

    def _reset(self, cid: bytes, size: int, source: Address) -> None:
        """Tether's: aioquic neither sends nor understands a stateless reset."""
        if size > layouts.RESET_BYTES and self._answers.take(self.now):
            number = int.from_bytes(cid, "big")
            token = secrets.reset_token(self._secret, number)
            self.out.append((layouts.write_reset(layouts.Reset(number, token)), source))

    def _begin(self, header: QuicHeader, data: bytes, source: Address) -> None:
        if len(data) < LEAST_INITIAL:
            refuse("unknown", "no connection has this id")
        if header.version not in self._configuration.supported_versions:
            self._refuse_version(header, source)
            refuse("version", f"version {header.version} is not spoken here")
        if header.packet_type is not QuicPacketType.INITIAL:
            refuse("unknown", "no connection has this id")
        self.gate.greet(source[0], self.now)
        if not header.token:
            self._retry(header, source)
            return
        try:
            original = self._tokens.validate_token(
                address=source,
                destination_cid=header.destination_cid,
                token=header.token,
                now=terms.seconds(self.now),
            )
        except ValueError as error:
            raise BadPacket("cookie", str(error)) from None
        self.gate.begin(self.now)
        if len(self._board.strangers) >= terms.HALF_OPEN:
            refuse("half open", "too many connections have no node so far")
        quic = QuicConnection(
            configuration=self._configuration,
            original_destination_connection_id=original,
            retry_source_connection_id=header.destination_cid,
        )
        QuicLine(self, self._board, quic, source, header.destination_cid).receive(data, source)

    def _refuse_version(self, header: QuicHeader, source: Address) -> None:
        if header.packet_type is not QuicPacketType.VERSION_NEGOTIATION and self._answers.take(self.now):
            answer = encode_quic_version_negotiation(
                source_cid=header.destination_cid,
                destination_cid=header.source_cid,
                supported_versions=self._configuration.supported_versions,
            )
            self.out.append((answer, source))

    def _retry(self, header: QuicHeader, source: Address) -> None:
        """Its token proves the address; nothing is kept."""
        cid = self.draw(terms.CID_BYTES)
        token = self._tokens.create_token(
            address=source,
            original_destination_connection_id=header.destination_cid,
            retry_source_connection_id=cid,
            now=terms.seconds(self.now),
        )
        assert header.version is not None
        answer = encode_quic_retry(
            version=header.version,
            source_cid=cid,
            destination_cid=header.source_cid,
            original_destination_cid=header.destination_cid,
            retry_token=token,
        )
        self.out.append((answer, source))

    # ---- handshakes

    def _secured(self, line: QuicLine) -> None:
        """The node greets."""

    def _lost(self, line: QuicLine) -> None:
        """It had no node."""

    def _greeted(self, line: QuicLine, frame: Frame) -> None:
        if frame.type is not Type.HELLO:
            refuse("type", f"{frame.type.name} is not the first frame of a node")
        hello = frames.read_hello(frame.body)
        line.nonce = hello.nonce
        secret = self.gate.secret_of(hello.node)
        if secret is None:
            self._refuse(line, None, Refusal.SECRET)
            return
        if not frames.is_proven(secret.key, b"hello", self.digest, hello.nonce, frame.body):
            refuse("proof", "a HELLO was not made with the secret of its node, for this certificate")
        found = Newcomer(*hello, line.address[0])
        code = self.gate.refusal(found, secret.is_revoked or not self.gate.is_allowed(line.address), self.now)
        if code is None:
            self._accept(line, found, secret.key)
        else:
            self._refuse(line, secret.key, code, self.epoch_of(hello.node))

    def _accept(self, line: QuicLine, found: Newcomer, secret: bytes) -> None:
        member, cid = self.gate.admit(found, self.now)
        line.join(found.node, cid, member.sender, member.receiver)
        self._table.join(found.node, member, line)
        assert line.quic is not None
        body = frames.write_accept(
            frames.Accept(
                cid,
                member.resumed,
                member.receiver.ack & LOW,
                self.settings.window,
                secrets.reset_token(self._secret, int.from_bytes(line.quic.host_cid, "big")),
            )
        )
        line.greet(Type.ACCEPT, body + frames.proof(secret, b"accept", self.digest, found.nonce, body))

    def _refuse(self, line: QuicLine, secret: bytes | None, code: Refusal, highest: int = 0) -> None:
        """``secret``: of a known node. ``highest``: the epoch to exceed."""
        body = frames.write_refuse(refusal_of(line.nonce, code, highest, self.gate.gateways))
        known = frames.proof(secret, b"refuse", self.digest, line.nonce, body) if secret else bytes(PROOF_BYTES)
        line.greet(Type.REFUSE, body + known)
        self.counters[f"refused {code.name.lower()}"] += 1

    def check_invariants(self) -> None:
        super().check_invariants()
        self._board.check_invariants()
        assert len(self._board.strangers) <= terms.HALF_OPEN
