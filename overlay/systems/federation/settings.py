"""The settings of a federation (seed 001, section 14, and details, section 3).

Counterparts: ``profiles`` has the published ones, ``workload`` the load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting, shown
from overlay.core.settings import ENGINE, Use, check, setting
from overlay.systems.federation.names import Routing

OFF, ON, NONE = "off", "on", "none"
BY_MULTICAST = "multicast"
"""The value of ``discovery`` with which brokers answer in the local network."""
COVERING, MERGING = "covering", "merging"
PERFECT, IMPERFECT = "perfect", "imperfect"
SUPPRESS = "suppress"
"""The value of ``cycles`` with which links may form cycles."""
MAX_BROKERS = 100_000
"""An index of ``mobile_brokers`` is below it."""
MOST_NAME_BYTES = 64
"""Of a domain."""


def _period(default: float, help: str) -> Any:
    return setting(default, unit="s", low=0.1, high=3_600, help=help)


@dataclass(frozen=True)
class Registering:
    """How brokers learn of clients and of each other, and how they learn that one is gone."""

    keepalive_s: float = _period(
        20.0,
        "Time after which a client that was not heard is invalid; after twice as long it is removed. Short times "
        "notice disappearances early and cost messages.",
    )
    broker_keepalive_s: float = _period(
        20.0,
        "The same for brokers at the registration service. Short times repair the tree early and cost messages.",
    )
    keepalive_share: float = setting(
        0.5,
        unit="fraction",
        low=0.1,
        high=1,
        help="Part of keepalive_s after which a keep-alive is sent. Near 1, one delayed message makes a client "
        "invalid; small values cost messages.",
    )
    implicit_keepalive: bool = setting(
        True,
        help="Whether every message of a client counts as a keep-alive. Without, a busy client may become invalid, as "
        "in the paper.",
    )
    grace_from: str = setting(
        "last_heard",
        choices=("last_heard", "first_missed"),
        help="When a client is removed. last_heard: twice keepalive_s after its last message; first_missed: three "
        "times, the other reading of the paper, which finds disappearances later.",
    )
    exchange_s: float = _period(
        10.0,
        "Period in which brokers tell neighbours of changed registrations. Short periods spread them early and cost "
        "messages. The paper gives none.",
    )
    out_of_turn: bool = setting(
        True,
        help="Whether a new or lost provider is told at once. Without, each link between brokers delays it by up to "
        "exchange_s.",
    )
    discovery: str = setting(
        "bdrs",
        choices=("manual", BY_MULTICAST, "bdrs"),
        help="How clients find a broker. manual: as assigned; multicast: the first on the local network that answers; "
        "bdrs: the nearest that the registration service names.",
    )


@dataclass(frozen=True)
class Distributing:
    """Which subscriptions and notifications travel between brokers, and how."""

    routing: str = setting(
        Routing.ADVERTISEMENTS.value,
        choices=tuple(one.value for one in Routing),
        help="What travels. notifications: every notification goes to all brokers, and providers are not asked; "
        "flooding: every subscription goes to all brokers; advertisements: subscriptions go towards providers of their "
        "scopes, the fewest messages, at the price of tables of providers.",
    )
    cycles: str = setting(
        "tree",
        choices=("tree", "refuse", SUPPRESS),
        help="What happens if links form cycles. tree: the registration service chooses a tree, and the other links "
        "are spare; refuse: a run does not start; suppress: all links are used, subscriptions are flooded, and "
        "repeated messages are dropped.",
    )
    covering: str = setting(
        COVERING,
        choices=(OFF, COVERING, MERGING),
        help="Which subscriptions are left out on a link. off: none; covering: those whose notifications another one "
        "brings; merging: in addition, two become one where that brings exactly the same. Saves messages, costs "
        "processor time.",
    )
    merging: str = setting(
        PERFECT,
        choices=(PERFECT, IMPERFECT),
        help="Which subscriptions are merged. perfect: those that are together one; imperfect: also intervals with a "
        "gap between them, which brings notifications that satisfy no subscription, the false positives.",
    )
    encoding: str = setting(
        "msgpack",
        choices=("contextml", "msgpack"),
        help="Form of subscriptions, notifications and advertisements in messages. contextml: XML, as in the paper, "
        "longer and slower to read; msgpack: binary.",
    )
    give_up_s: float = setting(
        5.0,
        unit="s",
        low=0.5,
        high=60,
        help="Time without an answer after which a neighbour is unreachable. Short times repair early, and take a slow "
        "link for a broken one.",
    )
    cache_cap: float = setting(
        1.0,
        unit="fraction",
        low=0,
        high=1,
        zero="off",
        help="Largest share of clients' subscriptions that a broker answers from its cache. 0.15 is the paper's; more "
        "hits save messages and may be older.",
    )
    cache_validity_s: float = setting(
        60.0,
        unit="s",
        low=0,
        high=86_400,
        help="How long notifications are valid. Long times give more hits and older data. The paper gives none.",
    )
    domain: str = setting(
        "",
        help="Domain of the brokers: one for all, or one for each, separated by commas, such as city,city,campus. "
        "Registrations and subscriptions that leave a domain are filtered.",
    )
    exports: str = setting(
        "",
        help="Scopes that other domains may see, separated by commas. Others are denied to them. No effect while all "
        "brokers have one domain.",
    )


@dataclass(frozen=True)
class Mobile:
    """Mobile brokers, and the energy of their device."""

    mobile_brokers: str = setting(
        "", help="Indices of mobile brokers, separated by commas, such as 0,2. They may move and go offline."
    )
    mobile_factor: float = setting(
        1.0, low=1, high=50, help="How many times slower a mobile broker is than others, with service_ms."
    )
    bulk: str = setting(
        OFF,
        choices=(OFF, ON),
        help="Whether mobile brokers collect subscriptions of low priority and send them together. Saves energy and "
        "delays them.",
    )
    omega: int = setting(
        12, low=1, high=1_000, help="Subscriptions that are collected at most. More save energy and wait longer."
    )
    bulk_deadline: str = setting(
        "earliest",
        choices=("postponed", "earliest"),
        help="When collected subscriptions are sent at the latest. postponed: half the shortest remaining time after "
        "the last addition, as in the paper, which each addition moves; earliest: the earliest of these times, so that "
        "none is late.",
    )
    device: str = setting(
        NONE,
        choices=(NONE, "mcxb"),
        help="Which broker clients on the phone use. none: broker 0, over the radio; mcxb: a mobile broker on the "
        "phone, which saves radio and costs processor time.",
    )
    local_interface: str = setting(
        "http",
        choices=("http", "ipc"),
        help="How clients on the phone reach its broker. http: by local HTTP; ipc: by sockets of the system, which "
        "cost a tenth.",
    )
    energy_model: str = setting(
        NONE,
        choices=(NONE, "powertutor", "transfer"),
        help="Model of the phone's energy. powertutor: power by packets per second, the paper's instrument; transfer: "
        "energy by bytes and tails of transfers. Its constants carry the result.",
    )
    http_ms: float = setting(
        4.0, unit="ms", low=0, high=1_000, help="Processor time of a local HTTP call on the phone. In the energy model."
    )
    ipc_ms: float = setting(
        0.4, unit="ms", low=0, high=1_000, help="The same of a call by sockets of the system. In the energy model."
    )


@dataclass(frozen=True)
class Settings(Mobile, Distributing, Registering):
    """All settings. Fields are in the order of ``Registering``, ``Distributing``, ``Mobile``, and the processor's."""

    service_ms: float = setting(
        0.0,
        unit="ms",
        low=0,
        high=1_000,
        zero=OFF,
        help="Mean time that a broker takes for a subscription, notification or query, one after the other. Models a "
        "slower processor than this one's; 0 adds none.",
    )
    service_cv: float = setting(
        1.0,
        low=0,
        high=4,
        help="Coefficient of variation of that time. 0: constant; 1: exponential. More variation, longer queues.",
    )
    processors: int = setting(
        1, low=1, high=64, help="Messages that a broker serves at once, with service_ms. More shorten its queue."
    )

    trace_one_in: int = setting(
        100,
        unit="messages",
        low=0,
        high=1_000_000,
        zero=OFF,
        help="One notification and one subscription in this many are traced from broker to broker, and each "
        "notification that satisfies a traced subscription. QUERYs are all traced. What is sent stays the same. "
        "1 traces all, for short runs.",
    )

    def __post_init__(self) -> None:
        check(self)
        self.mobile_indices  # noqa: B018 (raises)
        if longest := next((one for one in self.domains if len(one.encode()) > MOST_NAME_BYTES), ""):
            raise InvalidSetting("domain", f"a name has at most {MOST_NAME_BYTES} bytes; {shown(longest)} has more")

    @property
    def mobile_indices(self) -> tuple[int, ...]:
        """``mobile_brokers`` as numbers. Raises ``InvalidSetting``."""
        if self.mobile_brokers.strip() in ("", NONE):
            return ()
        return tuple(sorted({_index(part.strip()) for part in self.mobile_brokers.split(",")}))

    @property
    def domains(self) -> tuple[str, ...]:
        """``domain`` as one name for all brokers, or one for each."""
        return tuple(part.strip() for part in self.domain.split(","))

    def domain_of(self, broker: int) -> str:
        """That of the broker with this index."""
        return self.domains[broker] if len(self.domains) > 1 else self.domains[0]

    @property
    def exported(self) -> frozenset[str]:
        """``exports`` as scopes."""
        return frozenset(part.strip() for part in self.exports.split(",") if part.strip())


def _index(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 6 or int(text) >= MAX_BROKERS:
        raise InvalidSetting("mobile_brokers", f"must be broker indices separated by commas; {shown(text)} is none")
    return int(text)


USES: Mapping[str, Use] = {
    "mobile_factor": Use("service_ms"),
    "service_cv": Use("service_ms"),
    "processors": Use("service_ms"),
    "bulk": Use("mobile_brokers"),
    "omega": Use("bulk", (ON,)),
    "bulk_deadline": Use("bulk", (ON,)),
    "exports": Use("domain"),
    "merging": Use("covering", (MERGING,)),
    "local_interface": Use("device", ("mcxb",)),
    "http_ms": Use("energy_model", ("powertutor", "transfer")),
    "ipc_ms": Use("local_interface", ("ipc",)),
    "popularity": Use("scopes", more_than=1),
    "queries": Use("kind", ("once",)),
    "subscriptions": Use("kind", ("stream",)),
    "notifications": Use("kind", ("stream",)),
    "provider_ms": Use("kind", ("once",)),
    "query_share": Use("kind", ("once",)),
    "needs": Use("query_share"),
    **{f"client_{name}": Use(ENGINE, (SIMULATED,)) for name in ("delay_ms", "jitter_ms", "loss")},
}
"""Settings and workload fields that depend on another one."""
