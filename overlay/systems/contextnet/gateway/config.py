"""What a gateway is made of, apart from its place and its randomness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from overlay.systems.contextnet.gateway.credentials import Credentials
from overlay.systems.contextnet.gateway.settings import GatewaySettings
from overlay.systems.contextnet.records.names import INBOUND
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.transport.gate import Secret


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    settings: GatewaySettings
    secret: bytes
    """Of this gateway, 32 bytes; the same after a restart."""
    secret_of: Callable[[bytes], Secret | None]
    """Of a node; ``None``: it is not known. Asked for each HELLO, and every few seconds of each node
    that is connected."""
    credentials: Credentials | None = None
    """That ``secret_of`` asks, which learns from the log what operators revoke; ``None``: in runs they revoke nothing.
    """
    ping_period_s: int = 20
    ping_window_ms: int = 2_000
    """Until the PoA manager says otherwise."""
    list_age_s: int = 600
    """Older lists of gateways are not read: the PoA manager repeats them."""
    answers: frozenset[str] = frozenset()
    """Topics of applications' answers, which nodes may publish to, too."""
    is_everyone: bool = False
    """Whether senders append to ``outbound``, which every gateway reads (``routing``)."""
    expires_us: Callable[[Message, int], int] | None = None
    """When a message that was read at an instant expires (both Unix µs), to be checked before it is sent; ``None``:
    only the store does."""
    capacity: int = 0
    """Connections at which it reports to be busy all the time; 0: it reports what it measures."""
    load_noise: float = 0.0
    """Standard deviation of what it reports with ``capacity``."""
    trace_one_in: int = 0
    """As ``tracing.Tracing``."""

    @property
    def publishable(self) -> frozenset[str]:
        """Topics that nodes may publish to, other than groupcast and broadcast."""
        return frozenset((INBOUND, *self.settings.topics_allowed)) | self.answers
