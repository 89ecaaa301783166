"""The workload: consumers that subscribe, and providers that publish (seed 001, details, section 3). Pure.

::

    0                      all registered, every broker knows every provider
    |-- a client per stagger_ms --|-- 1 s at least --|                  |
    |<------------------ warming ------------------->|<-- measuring --->|
                                                      until each subscription is satisfied or has expired
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting
from overlay.load.assignment import ASSIGNMENTS
from overlay.load.popularity import POPULARITIES, UNIFORM
from overlay.systems.federation.names import Routing
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire.notes import MAX_TEXT_BYTES

MAX_CLIENTS = 100_000
MOST_NEEDED = 7
"""A broker splits the time of a query among 8 scopes at most (seed 001, section 9)."""
ONCE, STREAM = "once", "stream"
BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Workload:
    """The load of a run. The defaults are those of the paper's E1.1."""

    providers: int = setting(12, low=1, high=MAX_CLIENTS, help="Clients that publish. Each serves one scope.")
    consumers: int = setting(6, low=1, high=MAX_CLIENTS, help="Clients that subscribe. More have the same rate in all.")
    scopes: int = setting(
        12,
        low=1,
        high=MAX_CLIENTS,
        help="Number of scopes; provider i serves scope i modulo this number. Fewer scopes, more providers of each.",
    )
    kind: str = setting(
        ONCE,
        choices=(ONCE, STREAM),
        help="What consumers ask. once: queries, each satisfied by one notification; stream: subscriptions that last, "
        "and providers that publish by themselves.",
    )
    popularity: str = setting(
        UNIFORM,
        choices=POPULARITIES,
        help="Which scopes are asked for: all with equal probability, or the k-th in proportion to 1/k, which caches "
        "answer more often.",
    )
    queries: int = setting(
        2_000, low=0, high=1_000_000, help="Queries of all consumers together. More give narrower intervals."
    )
    subscriptions: int = setting(0, low=0, high=1_000_000, help="Subscriptions, all sent at the beginning.")
    notifications: int = setting(0, low=0, high=1_000_000, help="Notifications of all providers together.")
    rate_per_s: float = setting(
        10.0,
        unit="1/s",
        low=0.01,
        high=100_000,
        help="Mean rate of queries, or of notifications, of all clients together, at random times.",
    )
    expiry_s: float = setting(
        30.0, unit="s", low=0.1, high=86_400, help="Life of a subscription. What is not satisfied by then never is."
    )
    payload_bytes: int = setting(
        400, unit="bytes", low=0, high=MAX_TEXT_BYTES, help="Size of a notification's only value."
    )
    priority_low_share: float = setting(
        0.0,
        unit="fraction",
        low=0,
        high=1,
        help="Share of subscriptions of low priority, which mobile brokers collect with bulk, and full queues drop.",
    )
    query_share: float = setting(
        0.0,
        unit="fraction",
        low=0,
        high=1,
        help="With once: share of queries that go as QUERY, which brokers answer by asking providers now. The others "
        "are subscriptions that end with their first notification.",
    )
    needs: int = setting(
        0,
        unit="scopes",
        low=0,
        high=MOST_NEEDED,
        help="Scopes that a provider's answer to a QUERY needs, one after the other: with 2, scope 0 needs scope 1, "
        "which needs scope 2; then 3, 4, 5, and so on.",
    )
    provider_ms: float = setting(
        0.0, unit="ms", low=0, high=1_000, help="Time from a provider's being asked until it publishes or answers."
    )
    client_delay_ms: float = setting(
        0.0, unit="ms", low=0, high=60_000, help="One-way delay between clients and brokers. In simulated runs."
    )
    client_jitter_ms: float = setting(
        0.0,
        unit="ms",
        low=0,
        high=60_000,
        help="Largest variation of that delay, at most the delay. In simulated runs.",
    )
    client_loss: float = setting(
        0.0,
        unit="fraction",
        low=0,
        high=1,
        help="Share of datagrams lost between clients and brokers, each way. In simulated runs.",
    )
    duration_s: float = setting(
        60.0,
        unit="s",
        low=1,
        high=86_400,
        help="Duration of measuring without queries or subscriptions. With them, it ends with the last one.",
    )
    stagger_ms: float = setting(
        200.0,
        unit="ms",
        low=0,
        high=60_000,
        help="Time between the starts of clients, which determines the ramp.",
    )
    assignment: str = setting(
        BLOCKS,
        choices=(BLOCKS, *ASSIGNMENTS),
        help="How clients are assigned to brokers. blocks: the first ones to the first broker, in equal parts; or as "
        "in other systems: by machines, at random, round robin, by load, or to the nearest.",
    )

    def __post_init__(self) -> None:
        check(self)
        if self.scopes > self.providers:
            raise InvalidSetting(
                "scopes", f"{self.scopes:,} scopes need as many providers; there are {self.providers:,}"
            )
        if self.client_jitter_ms > self.client_delay_ms:
            raise InvalidSetting("client_jitter_ms", f"{self.client_jitter_ms:g} ms is more than the delay")


def check_together(settings: Settings, workload: Workload) -> None:
    """Raise ``InvalidSetting`` for a workload that these settings cannot serve."""
    if settings.routing == Routing.NOTIFICATIONS and workload.kind == ONCE and workload.queries:
        raise InvalidSetting(
            "routing", "notifications asks no providers, so queries have no answer; choose kind stream, or queries 0"
        )


def needs_of(scope: int, workload: Workload) -> tuple[int, ...]:
    """The scopes that this one needs: the next of its group, each of ``workload.needs`` + 1 scopes."""
    has_next = (scope + 1) % (workload.needs + 1) > 0 and scope + 1 < workload.scopes
    return (scope + 1,) if has_next else ()


def home_of(client: int, clients: int, brokers: int) -> int:
    """The broker of a client with assignment ``blocks``."""
    return client * brokers // clients
