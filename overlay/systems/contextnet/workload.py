"""The workload (seed 004, contract, section 8): mobile nodes and applications, and what they send when.

``load`` has the clients that do it, ``measuring`` what is measured of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Final

from overlay.core.errors import InvalidSetting
from overlay.core.links import LinkShape
from overlay.core.settings import InvalidText, check, setting

INBOUND, OUTBOUND, BOTH = "inbound", "outbound", "both"
SPREAD, FIRST = "spread", "first"
FIXED, EXPONENTIAL, WEIBULL = "fixed", "exponential", "weibull"
ABRUPT, GRACEFUL = "abrupt", "graceful"
SAME, LIST = "same", "list"
EACH, ONE = "node", "one"
"""Values of ``fleet_sockets``."""
NO_CAPACITY: Final = "none"

MOST_NODES: Final = 100_000
MOST_GATEWAYS: Final = 64
MOST_APPLICATIONS: Final = 64
MOST_S: Final = 604_800
"""Seconds of measuring."""
WEIBULL_SHAPE: Final = 0.7


def capacities(text: str) -> tuple[int, ...]:
    """Connections that each gateway can have, comma-separated; ``none``: it is measured. Raises ``InvalidText``."""
    if text == NO_CAPACITY:
        return ()
    found, at = [], 0
    for part in text.split(","):
        number = part.strip()
        if not (number.isascii() and number.isdigit()) or not 0 < int(number[:9]) <= MOST_NODES or len(number) > 8:
            raise InvalidText(at, f"must be {NO_CAPACITY}, or numbers from 1 to {MOST_NODES:,} with commas between")
        found.append(int(number))
        at += len(part) + 1
    return tuple(found)


@dataclass(frozen=True)
class Population:
    """Who is there."""

    nodes: int = setting(100, low=1, high=MOST_NODES, help="Mobile nodes in all.")
    gateways: int = setting(1, low=1, high=MOST_GATEWAYS, help="Gateways that nodes connect to.")
    start: str = setting(
        SPREAD,
        choices=(SPREAD, FIRST),
        help="Where nodes connect first. spread: in turn over all gateways; first: all at the first gateway.",
    )
    brokers: int = setting(
        1, unit="partitions", low=1, high=MOST_APPLICATIONS, help="Partitions of the topic that nodes send to."
    )
    applications: int = setting(
        0,
        low=0,
        high=MOST_APPLICATIONS,
        zero="as brokers",
        help="Applications, which share the partitions. More than partitions leave some without work.",
    )
    definers: int = setting(0, low=0, high=4, zero="none", help="Logics that make groups of contexts.")


@dataclass(frozen=True)
class Traffic:
    """What is sent."""

    direction: str = setting(
        INBOUND,
        choices=(INBOUND, OUTBOUND, BOTH),
        help="Who sends messages. inbound: nodes, and applications answer; outbound: the reverse; both: each.",
    )
    rate_per_min: float = setting(
        4.0, unit="1/min", low=0.01, high=6_000, help="Messages of each node, or to each node, in each direction."
    )
    messages: int = setting(
        500, low=1, high=1_000_000, help="Messages of each node and direction, which determine the duration."
    )
    duration_s: float = setting(
        0.0,
        unit="s",
        low=0,
        high=MOST_S,
        zero="by messages",
        help="Duration of measuring. If it is given, the number of messages follows from it.",
    )
    payload_bytes: int = setting(200, unit="bytes", low=16, high=60_000, help="Size of a message's content.")
    context_bytes: int = setting(
        64, unit="bytes", low=16, high=1_024, help="Size of the context in each message of a node."
    )
    connect_interval_ms: float = setting(
        1_000.0,
        unit="ms",
        low=0,
        high=60_000,
        help="Time between the first connections of two nodes, which determines the ramp.",
    )
    drain_s: float = setting(
        60.0, unit="s", low=1, high=3_600, help="Time for outages to end and messages to arrive, after the last one."
    )


@dataclass(frozen=True)
class Hosts:
    """The applications' machines, and those of gateways."""

    app_service_ms: float = setting(
        0.0, unit="ms", low=0, high=10_000, zero="none", help="Mean time of an application for a message, exponential."
    )
    app_pause_s: float = setting(
        0.0, unit="s", low=0, high=60, zero="none", help="Mean time for which an application stops, exponential."
    )
    app_pause_every_s: float = setting(
        0.0, unit="s", low=0, high=3_600, zero="never", help="Mean time between such pauses, exponential."
    )
    gateway_capacity: str = setting(
        NO_CAPACITY,
        most=600,
        language=capacities,
        help="Connections that load each gateway fully, with commas. It then reports the share of them as its load; "
        f"{NO_CAPACITY}: it reports what it measures.",
    )
    load_noise: float = setting(
        0.0, unit="fraction", low=0, high=1, help="Standard deviation of noise on that share. Needs gateway_capacity."
    )


@dataclass(frozen=True)
class Mobility:
    """How nodes come and go, and the links to gateways."""

    disconnecting_share: float = setting(
        0.0, unit="fraction", low=0, high=1, help="Share of nodes that are off from time to time."
    )
    off_s: float = setting(30.0, unit="s", low=0.1, high=86_400, help="How long such a node is off each time.")
    on_s: float = setting(173.0, unit="s", low=0.1, high=86_400, help="Mean time between its outages.")
    on_law: str = setting(
        FIXED,
        choices=(FIXED, EXPONENTIAL, WEIBULL),
        help=f"How that time varies. fixed: not at all; exponential; weibull: with shape {WEIBULL_SHAPE}.",
    )
    disconnect: str = setting(
        ABRUPT, choices=(ABRUPT, GRACEFUL), help="How a node goes. abrupt: silently; graceful: it says so."
    )
    reconnect_to: str = setting(
        SAME,
        choices=(SAME, LIST),
        help="The gateway that it tries first on return. same: its last one; list: as the list of gateways has it.",
    )
    address_change_per_h: float = setting(
        0.0, unit="1/h", low=0, high=3_600, zero="never", help="How often each node gets another port."
    )
    link_delay_ms: float = setting(
        2.0, unit="ms", low=0, high=60_000, help="One-way delay between nodes and gateways. In simulated runs."
    )
    link_jitter_ms: float = setting(
        1.0,
        unit="ms",
        low=0,
        high=60_000,
        help="Largest variation of that delay, at most the delay. In simulated runs.",
    )
    link_loss: float = setting(
        0.0, unit="fraction", low=0, high=1, help="Share of datagrams lost on the way, each way. In simulated runs."
    )


@dataclass(frozen=True)
class Sockets:
    """How nodes reach the network."""

    fleet_sockets: str = setting(
        EACH,
        choices=(EACH, ONE),
        help="The sockets of a process of nodes. node: one for each node; one: one for all of them, as behind a device "
        "that carries many; connections then tell nodes apart. Processes have up to 1,000 nodes.",
    )


@dataclass(frozen=True)
class Grouping:
    """Contexts and messages to groups."""

    groups: int = setting(4, low=1, high=64, help="Groups of each definer.")
    context_change_per_min: float = setting(
        0.0, unit="1/min", low=0, high=600, zero="never", help="How often each node's context changes."
    )
    groupcast_per_min: float = setting(
        0.0, unit="1/min", low=0, high=6_000, zero="never", help="Messages to groups, in all."
    )
    square_km: float = setting(
        0.0,
        unit="km",
        low=0,
        high=10_000,
        zero="nodes do not drive",
        help="Side of a square in which nodes drive, and tell where they are at each change of their context. The "
        "first definer then makes groups of its regions, a grid of as many as there are groups.",
    )
    speed_kmh: float = setting(50.0, unit="km/h", low=0, high=1_000, help="How fast they drive. Needs square_km.")


@dataclass(frozen=True)
class Workload(Grouping, Sockets, Mobility, Hosts, Traffic, Population):
    """All fields, in the order of the last base first."""

    def __post_init__(self) -> None:
        check(self)
        self._check_hosts()
        if self.link_jitter_ms > self.link_delay_ms:
            raise InvalidSetting("link_jitter_ms", f"{self.link_jitter_ms:g} ms is more than the delay")
        if self.address_change_per_h and self.fleet_sockets == ONE:
            sentence = f"needs fleet_sockets {EACH}: a node cannot change a port that it shares"
            raise InvalidSetting("address_change_per_h", sentence)
        if not self.count:
            sentence = f"{self.duration_s:g} s is shorter than the {self.interval_s:g} s between two messages"
            raise InvalidSetting("duration_s", sentence)
        if self.measured_s > MOST_S:
            sentence = f"{self.messages:,} messages take {self.measured_s:,.0f} s; a run has at most {MOST_S:,}"
            raise InvalidSetting("messages", sentence)
        if self.gateways > self.nodes:
            raise InvalidSetting("gateways", f"{self.gateways} are more than the {self.nodes} nodes")
        for name in ("context_change_per_min", "groupcast_per_min", "square_km"):
            if getattr(self, name) and not self.definers:
                raise InvalidSetting(name, "needs definers, of which there are none")
        if self.square_km and self.regions_across**2 != self.groups:
            raise InvalidSetting("groups", f"must be a square number for a grid of regions, not {self.groups}")

    def _check_hosts(self) -> None:
        if bool(self.app_pause_s) != bool(self.app_pause_every_s):
            missing = "app_pause_every_s" if self.app_pause_s else "app_pause_s"
            raise InvalidSetting(missing, "is needed, too: pauses have a length and an interval")
        known = len(self.capacities)
        if known not in (0, self.gateways):
            raise InvalidSetting("gateway_capacity", f"has {known} numbers for {self.gateways} gateways")
        if self.load_noise and not known:
            raise InvalidSetting("load_noise", f"needs gateway_capacity, which is {NO_CAPACITY}")

    @property
    def interval_s(self) -> float:
        """Between two messages of a node and direction."""
        return 60 / self.rate_per_min

    @property
    def count(self) -> int:
        """Messages of each node and direction."""
        return int(self.duration_s / self.interval_s + 1e-9) if self.duration_s else self.messages

    @property
    def measured_s(self) -> float:
        return self.duration_s or self.messages * self.interval_s

    @property
    def capacities(self) -> tuple[int, ...]:
        """Of each gateway; empty: they are measured."""
        return capacities(self.gateway_capacity)

    @property
    def application_count(self) -> int:
        return self.applications or self.brokers

    @property
    def is_inbound(self) -> bool:
        return self.direction != OUTBOUND

    @property
    def is_outbound(self) -> bool:
        return self.direction != INBOUND

    @property
    def disconnecting(self) -> int:
        """How many nodes are off from time to time."""
        return round(self.disconnecting_share * self.nodes)

    @property
    def regions_across(self) -> int:
        """Of the grid over the square in which nodes drive."""
        return isqrt(self.groups)

    @property
    def region_km(self) -> float:
        """The side of a region; 0: nodes do not drive."""
        return self.square_km / self.regions_across

    @property
    def link(self) -> LinkShape:
        """Of each direction between a node and a gateway."""
        return LinkShape(delay_ms=self.link_delay_ms, jitter_ms=self.link_jitter_ms, loss=self.link_loss)

    def home_of(self, node: int) -> int:
        """The gateway that a node connects to first."""
        return node % self.gateways if self.start == SPREAD else 0
