"""The gateway's end over Tether: handshakes without state until a cookie proves the address, packets by their ids."""

from __future__ import annotations

from collections.abc import Callable

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.transport import layouts, packets, secrets
from overlay.systems.contextnet.transport.admission import Admission, Rate
from overlay.systems.contextnet.transport.connection import Connection
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.greeting import Greeting
from overlay.systems.contextnet.transport.layouts import BadPacket, Type
from overlay.systems.contextnet.transport.serving import Serving
from overlay.systems.contextnet.transport.settings import ANSWERS_PER_S, HANDSHAKES_PER_S, TransportSettings


class GatewayEnd(Serving):
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
            HANDSHAKES_PER_S,
        )
        self._secret = secret
        self._greeting = Greeting(self, self._table, self.gate, secret)
        self._resets = Rate(ANSWERS_PER_S)

    def _receive(self, data: bytes, source: Address) -> None:
        if data and data[0] >> 4 != layouts.VERSION:
            self._greeting.refuse_version(data, source)
        kind = layouts.type_of(data)
        if kind is Type.HELLO:
            self._greeting.hello(data, source)
        elif kind in packets.PROTECTED:
            cid = packets.cid_of(data, 8)
            connection = self._table.by_cid.get(cid)
            if connection is None:
                self._reset(cid, source)
                raise BadPacket("unknown", "no connection has this id")
            assert isinstance(connection, Connection)
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

    def check_invariants(self) -> None:
        super().check_invariants()
        self.budget.check_invariants(sum(connection.is_open for connection in self._table.by_cid.values()))
