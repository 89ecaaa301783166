"""What the parts of a gateway share: its end of the transport, its log, its clock."""

from __future__ import annotations

from overlay.core.addresses import Address, parse_networks
from overlay.core.chance import Chance, Chances
from overlay.systems.contextnet.ends import gateway_end
from overlay.systems.contextnet.gateway.config import GatewayConfig
from overlay.systems.contextnet.gateway.settings import NONE, SECRET
from overlay.systems.contextnet.log_server import LogServer
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.tracing import Tracer
from overlay.systems.contextnet.transport.admission import Admission
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.secrets import NO_SECRET


class Station(LogServer):
    def __init__(
        self, name: str, address: Address, config: GatewayConfig, chances: Chances, wall_offset_ns: int
    ) -> None:
        super().__init__(name, address, chances, wall_offset_ns)
        self.config = config
        self.settings = settings = config.settings
        self.chance: Chance = chances.upkeep
        self.tracer = Tracer(config.trace_one_in)
        self.end = gateway_end(settings)(
            int(name.rpartition("-")[2]),
            config.secret,
            config.secret_of if settings.auth == SECRET else _same_secret,
            settings,
            chances.walks,
            is_durable=settings.is_exact,
            admission=Admission(
                settings.hello_per_ip,
                settings.connections_per_ip,
                parse_networks(settings.trusted, "trusted"),
                is_private_only=settings.auth == NONE,
            ),
            wall_offset=wall_offset_ns,
        )

    def tell(self, topic: str, key: bytes, record: object) -> None:
        """Append a record for which nothing waits."""
        self.append(topic, key, codec.write(record))


def _same_secret(node: bytes) -> Secret:
    return Secret(NO_SECRET)
