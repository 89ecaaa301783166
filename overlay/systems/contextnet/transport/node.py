"""The node's end over Tether: HELLO, RETRY, ACCEPT and REFUSE as datagrams, and packets of its connection."""

from __future__ import annotations

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.transport import layouts, secrets
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.transport.calling import Calling
from overlay.systems.contextnet.transport.connection import Connection
from overlay.systems.contextnet.transport.events import Ending
from overlay.systems.contextnet.transport.layouts import PROOF_BYTES, BadPacket, Hello, Refusal, Refuse, Type, Wants
from overlay.systems.contextnet.transport.packets import PROTECTED, cid_of
from overlay.systems.contextnet.transport.settings import HELLO_WAITS, TransportSettings
from overlay.systems.contextnet.transport.terms import terms_of

_UNPROVEN = (Refusal.FULL, Refusal.BUSY, Refusal.VERSION)
"""Refusals that are believed without a proof, for at most a minute."""


def name_of(data: bytes) -> bytes:
    """What a datagram for a node says of whom it is for: the id of the connection, or the nonce of the HELLO that it
    answers. Raises ``BadPacket``."""
    kind = layouts.type_of(data)
    if kind in PROTECTED:
        return cid_of(data, 8).to_bytes(8, "big")
    if kind is Type.RESET:
        return layouts.read_reset(data).cid.to_bytes(8, "big")
    if kind is Type.ACCEPT:
        return layouts.read_accept(data).client_nonce
    if kind is Type.RETRY:
        return layouts.read_retry(data).nonce
    if kind is Type.REFUSE:
        return layouts.read_refuse(data).nonce
    raise BadPacket("type", f"{kind.name} is not for a node")


class NodeEnd(Calling):
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
        super().__init__(node, secret, epoch, settings, chance, HELLO_WAITS, deadlines, budget)
        self._reset_token = b""

    def _receive(self, data: bytes, source: Address) -> None:
        kind = layouts.type_of(data)
        connection = self._connection
        if kind in PROTECTED:
            if connection is None or cid_of(data, 8) != connection.cid:
                raise BadPacket("unknown", "no connection has this id")
            assert isinstance(connection, Connection)
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
            self._refuse(data)
        else:
            raise BadPacket("type", f"{kind.name} is not for a node")

    def _check_nonce(self, nonce: bytes) -> None:
        if nonce != self._dial.nonce:
            raise BadPacket("nonce", "an answer is to another HELLO")

    # ---- handshakes

    def _greet(self) -> None:
        dial = self._dial
        hello = Hello(self._node, dial.epoch, dial.nonce, dial.resume_cid, dial.cookie, dial.wants)
        data = layouts.write_hello(hello)
        self.out.append((data + secrets.proof(self._secret, b"hello", data), dial.gateway))

    def _accept(self, data: bytes) -> None:
        accept, dial = layouts.read_accept(data), self._dial
        self._check_nonce(accept.client_nonce)
        if not secrets.is_proven(self._secret, b"accept", data):
            raise BadPacket("proof", "an ACCEPT was not made with our secret")
        self._accepted(accept.resumed, accept.expected, accept.next_cookie)
        keys = secrets.session_keys(self._secret, accept.client_nonce, accept.server_nonce, accept.cid, self._node)
        terms = terms_of(
            accept.window,
            accept.rto_min_ms,
            accept.ack_delay_ms,
            accept.idle_s,
            16 if dial.wants & Wants.LONG_TAG else 8,
        )
        self._reset_token = accept.reset_token
        both = keys.to_gateway, keys.to_node
        connection = Connection(self, self._node, accept.cid, dial.gateway, both, terms, self._sender, self._receiver)
        self._join(connection, accept.resumed)

    def _refuse(self, data: bytes) -> None:
        refusal = layouts.read_refuse(data)
        self._check_nonce(refusal.nonce)
        is_proven = secrets.is_proven(self._secret, b"refuse", data)
        if not is_proven and not self._is_believed(refusal, data):
            raise BadPacket("proof", "a REFUSE was not made with our secret")
        self._refused(refusal, is_proven)

    def _is_believed(self, refusal: Refuse, data: bytes) -> bool:
        return refusal.code in _UNPROVEN and refusal.retry_after_s <= 60 and not any(data[-PROOF_BYTES:])
