"""The node's end over QUIC: a connection of QUIC for each HELLO."""

from __future__ import annotations

from typing import Final

from aioquic._buffer import Buffer
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import pull_quic_header

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.quic import frames, terms
from overlay.systems.contextnet.quic.board import Board
from overlay.systems.contextnet.quic.certificate import digest_of
from overlay.systems.contextnet.quic.frames import Frame, Hello
from overlay.systems.contextnet.quic.line import QuicLine
from overlay.systems.contextnet.transport import layouts
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.transport.calling import Calling
from overlay.systems.contextnet.transport.events import Ending
from overlay.systems.contextnet.transport.layouts import BadPacket, Type, refuse
from overlay.systems.contextnet.transport.settings import HELLO_WAITS, TransportSettings

WAITS: Final = (sum(HELLO_WAITS),)
"""Seconds for one gateway: QUIC repeats what is lost."""
_RESET: Final = 0x10 | Type.RESET


class QuicNodeEnd(Calling):
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
        """As ``transport.node.NodeEnd``; QUIC needs no ``budget`` of repeats."""
        self._call: QuicLine | None = None
        """Under way to the gateway of ``_dial``."""
        self._digest = b""
        """SHA-256 of the certificate that it presented."""
        self._reset_token = b""
        self._was_secured = False
        super().__init__(node, secret, epoch, settings, chance, WAITS, deadlines, budget)
        self._board = Board(self._secured, self._greeted, self._lost)

    @property
    def is_heard(self) -> bool:
        return self._was_secured

    def suspend(self, now: int) -> None:
        kept = len(self.out)
        super().suspend(now)
        self._drop_call()
        del self.out[kept:]  # nothing of it is sent

    def _receive(self, data: bytes, source: Address) -> None:
        if data[:1] == bytes([_RESET]):
            self._reset(data)
            return
        try:
            header = pull_quic_header(Buffer(data=data), host_cid_length=terms.CID_BYTES)
        except ValueError as error:
            raise BadPacket("header", str(error)) from None
        line = self._board.by_cid.get(header.destination_cid)
        if line is None:
            refuse("unknown", "no connection has this id")
        line.receive(data, source)

    def _reset(self, data: bytes) -> None:
        reset, connection = layouts.read_reset(data), self._connection
        if connection is None or reset.token != self._reset_token:
            refuse("unknown", "a RESET is of no connection")
        self.closed(connection, Ending.RESET)

    # ---- handshakes

    def _greet(self) -> None:
        self._drop_call()
        quic = QuicConnection(configuration=terms.of_node(self.settings.idle_s))
        quic.connect(self._dial.gateway, terms.seconds(self.now))
        call = self._call = QuicLine(self, self._board, quic, self._dial.gateway)
        call.nonce = self._dial.nonce
        call.flush()

    def _drop_call(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.hang_up()

    def _secured(self, line: QuicLine) -> None:
        """The gateway has a certificate and its key."""
        assert line.quic is not None
        certificate = line.quic.tls._peer_certificate  # it has no other name
        if line is not self._call or line.nonce != self._dial.nonce or certificate is None:
            line.hang_up()
            return
        self._was_secured, self._digest = True, digest_of(certificate)
        dial = self._dial
        body = frames.write_hello(Hello(self._node, dial.epoch, dial.nonce, dial.resume_cid, dial.wants))
        line.greet(Type.HELLO, body + frames.proof(self._secret, b"hello", self._digest, dial.nonce, body))

    def _greeted(self, line: QuicLine, frame: Frame) -> None:
        if line is not self._call or line.nonce != self._dial.nonce:
            refuse("unexpected", f"no HELLO asked for {frame.type.name}")
        label = {Type.ACCEPT: b"accept", Type.REFUSE: b"refuse"}.get(frame.type)
        if label is None:
            refuse("type", f"{frame.type.name} is no answer to a HELLO")
        if not frames.is_proven(self._secret, label, self._digest, line.nonce, frame.body):
            refuse("proof", f"a {frame.type.name} was not made with our secret, for its certificate")
        if frame.type is Type.ACCEPT:
            self._accept(line, frames.read_accept(frame.body))
        else:
            self._drop_call()
            self._refused(frames.read_refuse(frame.body), True)

    def _accept(self, line: QuicLine, accept: frames.Accept) -> None:
        self._call, self._was_secured = None, False
        self._accepted(accept.resumed, accept.expected, b"")
        self._reset_token = accept.reset_token
        line.window = accept.window
        line.join(self._node, accept.cid, self._sender, self._receiver)
        self._join(line, accept.resumed)

    def _lost(self, line: QuicLine) -> None:
        """Without an answer: the next gateway."""
        if line is self._call:
            self._call = None
            if line.nonce == self._dial.nonce:
                self._dial.next_gateway()

    def check_invariants(self) -> None:
        super().check_invariants()
        self._board.check_invariants()
