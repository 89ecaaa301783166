"""Which transport carries messages: the one place that chooses. QUIC is imported only where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlay.systems.contextnet.transport.gateway import GatewayEnd
from overlay.systems.contextnet.transport.node import NodeEnd
from overlay.systems.contextnet.transport.settings import QUIC, TransportSettings

if TYPE_CHECKING:
    from overlay.systems.contextnet.quic.gateway import QuicGatewayEnd
    from overlay.systems.contextnet.quic.node import QuicNodeEnd


def gateway_end(settings: TransportSettings) -> type[GatewayEnd | QuicGatewayEnd]:
    if settings.transport != QUIC:
        return GatewayEnd
    from overlay.systems.contextnet.quic.gateway import QuicGatewayEnd

    return QuicGatewayEnd


def node_end(settings: TransportSettings) -> type[NodeEnd | QuicNodeEnd]:
    if settings.transport != QUIC:
        return NodeEnd
    from overlay.systems.contextnet.quic.node import QuicNodeEnd

    return QuicNodeEnd
