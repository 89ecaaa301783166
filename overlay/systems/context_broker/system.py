"""Seed 000 as a system. Implements ``overlay.systems.contract``, the interface for drivers, plans and pages.

Every broker process imports this module, so imports that only other processes need are inside functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import InvalidSetting, WireError, within
from overlay.core.settings import SettingInfo, build, describe
from overlay.systems.context_broker import broker as broker_package
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.membership import GIVEN
from overlay.systems.context_broker.broker.reports import make_holdings, make_traces
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.walks import POLICIES
from overlay.systems.context_broker.presentation import PRESENTATION
from overlay.systems.context_broker.profiles import PROFILE, PROFILES, resolved
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.messages import Key, Ping, PingResponse, StatsRequest, StatsResponse
from overlay.systems.context_broker.wire.table import LAYOUTS, AnyMessage
from overlay.systems.contract import Setup, System, WalkPolicy
from overlay.systems.cores import OTHER, Meter
from overlay.systems.roles import REQUESTS, UPDATES, ClientRole, Place, Role

if TYPE_CHECKING:
    from overlay.core.settings import Use
    from overlay.faults.churn import Change
    from overlay.journal.facts import Fact
    from overlay.load.expectations import Expected
    from overlay.load.windows import Windows
    from overlay.systems.context_broker.assembly import Assembly
    from overlay.systems.context_broker.clients.scheduled import ScheduledFleet
    from overlay.systems.context_broker.introduction import Introduction
    from overlay.systems.context_broker.workload import ClientPlan
    from overlay.topologies import Graph
    from overlay.topologies.walks import WalkEstimate


def _estimate(policy: str, graph: Graph) -> WalkEstimate:
    from overlay.systems.context_broker import walking

    return walking.estimate(graph, policy)


WALK_POLICIES = {
    name: WalkPolicy(label, partial(_estimate, name))
    for name, label in (
        ("backtrack", "backtracks"),
        ("avoid", "avoids visited brokers"),
        ("uniform", "goes anywhere"),
        ("noback", "does not turn back"),
    )
}
assert WALK_POLICIES.keys() == POLICIES.keys() and next(iter(WALK_POLICIES)) == BrokerConfig.walk_policy
MONITORING = SettingInfo(
    name="monitoring",
    kind="boolean",
    default=True,
    unit="",
    help="Whether brokers monitor their neighbours. Without monitoring a dead neighbour keeps getting requests.",
    low=None,
    high=None,
    choices=(),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a network of brokers."""

    broker: BrokerConfig
    """The settings of every broker; a ``walk_ttl`` of 0 depends on the size of the overlay."""
    monitoring: bool = True
    """Whether each broker is ordered to monitor its neighbours once it has joined them."""


class ContextBroker(System):
    """Brokers in an overlay, providers that push context to them, and consumers that query any of them."""

    name = "context-broker"
    title = "Decentralised context broker"
    seed = "000"
    summary = (
        "Brokers in an unstructured overlay store context data. A random walk finds data that a broker lacks and "
        "leaves replicas on the way back."
    )
    role_names = ("broker",)
    client_roles = {"consumer": ClientRole("consumers", REQUESTS), "provider": ClientRole("providers", UPDATES)}
    queries = frozenset({"held_keys"})
    profiles = PROFILES
    gauges = frozenset(
        (
            *("entries", "bytes", "pending", "uptime"),
            *("neighbours", "neighbours_dropped", "neighbours_suspected", "contacts"),
        )
    )
    table_gauge = "bytes"
    can_grow = can_shrink = True
    shared_settings = frozenset(("arm", "membership", MONITORING.name))
    draining_help = (
        "Its valid entries are given to its neighbours, or to their next keepers in a structured network; entries that "
        "fit into no neighbour's table are lost."
    )
    client_fields = ("providers", "consumers")
    walk_policies = WALK_POLICIES
    work_units: ClassVar[Mapping[str, tuple[str, ...]]] = {"broker": ("scans", "compared", "matched")}
    has_traces = True
    network_profile = "improved"
    network_profile_help = (
        "Networks use improved by default. Its searches backtrack until every broker has been asked, so not found "
        "(404 in REST) means that no broker has the data."
    )
    presentation = PRESENTATION
    bridging = "overlay.programs.context_broker.mqtt.supervised:BRIDGING"
    strategies = (*STRATEGIES, "structured")
    measure_names = (
        *("hops", "messages_per_query", "datagrams_per_query", "messages_per_update", "success", "fresh_share"),
        *("false_not_found", "age_ms", "mean_from_sent_us", "copies", "copies_exponent", "gone_known_ms"),
        "busiest_over_mean",
    )
    cost_words = {
        "hops": ("hops", "{hops:.2f} per answer"),
        "messages_per_query": ("messages", "{messages_per_query:.2f} per query"),
    }

    # ---- choices

    @property
    def settings(self) -> tuple[SettingInfo, ...]:
        return (PROFILE, *describe(BrokerConfig), MONITORING)

    @property
    def workload(self) -> tuple[SettingInfo, ...]:
        from overlay.systems.context_broker.workload import Workload

        return tuple(describe(Workload))

    def uses(self) -> Mapping[str, Use]:
        from overlay.systems.context_broker.uses import USES

        return USES

    def read_settings(self, values: Mapping[str, Any]) -> Settings:
        rest = resolved(values)
        monitoring = rest.pop(MONITORING.name, MONITORING.default)
        MONITORING.check(monitoring)
        return Settings(build(BrokerConfig, rest), bool(monitoring))

    def settings_document(self, settings: Settings) -> dict[str, Any]:
        return {**asdict(settings.broker), MONITORING.name: settings.monitoring}

    def read_workload(self, values: Mapping[str, Any]) -> Any:
        from overlay.systems.context_broker.workload import Workload

        return build(Workload, values)

    def check_fit(self, setup: Setup) -> None:
        from overlay.systems.context_broker.workload import check_clients

        graph, config = setup.graph, setup.settings.broker
        if graph.brokers == 1 and config.arm == "unstructured" and config.search == "k-walkers":
            raise InvalidSetting("settings.search", "k-walkers needs several brokers; choose walk for a single broker")
        if setup.workload is not None:
            with within("workload"):
                check_clients(setup.workload, graph.brokers, graph.positions)
                self.churn(setup)

    # ---- plan

    def roles(self, setup: Setup) -> Sequence[Role]:
        return (Role(self.role_names[0], setup.graph.brokers),)

    def plan_clients(self, setup: Setup) -> Mapping[str, Sequence[ClientPlan]]:
        from overlay.systems.context_broker.workload import fleets, plan_clients

        return fleets(plan_clients(setup.workload, setup.graph.brokers, setup.seed, setup.graph.positions))

    def churn(self, setup: Setup) -> tuple[Change, ...]:
        from overlay.faults.churn import schedule

        return schedule(setup.workload, setup.graph.brokers, setup.seed)

    # ---- cores

    def config_of(self, setup: Setup) -> BrokerConfig:
        config: BrokerConfig = setup.settings.broker
        return config.among(setup.graph.brokers)

    def read_config(self, document: Mapping[str, Any]) -> BrokerConfig:
        return build(BrokerConfig, document)

    def make_server(
        self, config: BrokerConfig, place: Place, chances: Chances, wall_offset_ns: int, *, is_simulated: bool = False
    ) -> Broker:
        broker = Broker(config, place.address, chances, wall_offset_ns)
        if is_simulated:
            broker.spare_scans()
        return broker

    def make_fleet(
        self,
        plans: Sequence[ClientPlan],
        servers: Sequence[Address],
        setup: Setup,
        windows: Windows,
        *,
        wall_offset_ns: int,
        most_lanes: int,
    ) -> ScheduledFleet:
        from overlay.systems.context_broker.clients.scheduled import fleet_of_plans

        return fleet_of_plans(
            plans,
            servers,
            setup.workload,
            windows,
            seed=setup.seed,
            wall_offset_ns=wall_offset_ns,
            most_lanes=most_lanes,
        )

    # ---- assembly

    def make_assembly(self, setup: Setup) -> Assembly:
        from overlay.systems.context_broker.assembly import Assembly

        settings, graph = setup.settings, setup.graph
        searching = settings.broker.membership != GIVEN
        return Assembly(graph.brokers, graph.links, monitoring=settings.monitoring, searching=searching)

    def introduction(self, setup: Setup) -> Introduction | None:
        """Brokers that choose their neighbours cannot be assigned any."""
        from overlay.systems.context_broker.introduction import Introduction

        return Introduction(setup.settings) if setup.settings.broker.membership == GIVEN else None

    # ---- life and facts

    def hand_over(self, server: Broker, now: int) -> None:
        server.hand_over(now)

    def entries_to_give(self, server: Broker) -> tuple[int, int, int]:
        return server.to_give

    def is_traced(self, config: BrokerConfig) -> bool:
        return bool(config.trace_one_in)

    def untraced(self, config: BrokerConfig) -> BrokerConfig:
        return replace(config, trace_one_in=0)

    def facts(self, process: str, server: Broker, zero_ns: int) -> Sequence[Fact]:
        return make_traces(process, server.traces(), zero_ns)

    def closing_facts(self, process: str, held: Mapping[Key, bool], at_us: int) -> Sequence[Fact]:
        return (make_holdings(process, at_us, held),)

    def holdings(self, server: Broker, now: int) -> Mapping[Key, bool]:
        return server.held_keys(now)

    def ping(self, unix_ms: int) -> bytes:
        return encode(Ping(unix_ms))

    def answers_ping(self, data: bytes) -> bool:
        return isinstance(_parsed(data), PingResponse)

    def statistics_request(self, unix_ms: int) -> bytes:
        return encode(StatsRequest(unix_ms))

    def read_statistics(self, data: bytes) -> Mapping[str, int] | None:
        message = _parsed(data)
        return dict(message.counters) if isinstance(message, StatsResponse) else None

    def rehearsal(self, address: Address, own: Address, unix_ms: int) -> Sequence[bytes]:
        from overlay.systems.context_broker.rehearsal import datagrams

        return datagrams(own, unix_ms)

    def make_meter(self, actor: Any, role: str) -> Meter:
        return _Meter(actor) if role in self.role_names else Meter()

    def costs(self, counters: Mapping[str, int], asked: int) -> Mapping[str, float | None]:
        from overlay.systems.context_broker.costs import costs

        return costs(counters, asked)

    def expected(self, configuration: Mapping[str, Any]) -> Expected:
        from overlay.systems.context_broker.expectations import expected

        return expected(configuration, self.whole(configuration["settings"]))

    def warnings(self, configurations: Sequence[Mapping[str, Any]], seed: int) -> Sequence[str]:
        from overlay.systems.context_broker import searches

        return searches.warnings(configurations, seed)

    def remark(self, summary: Mapping[str, Any]) -> str:
        from overlay.systems.context_broker import searches

        return searches.remark(summary)

    @property
    def code(self) -> tuple[Path, ...]:
        return (Path(str(broker_package.__file__)).parent,)


_NAMES = {b"%d" % code: layout.name for code, layout in LAYOUTS.items()}


def _parsed(data: bytes) -> AnyMessage | None:
    try:
        return parse(data)
    except WireError:
        return None


class _Meter(Meter):
    """Counts messages by name, and the entries compared by a linear table."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._compared = (0, 0)

    def _names(self, datagrams: Sequence[bytes]) -> list[str]:
        return [_NAMES.get(data[: data.find(b"|")], OTHER) for data in datagrams]

    def _units(self) -> Mapping[str, int]:
        (compared, matched), before = self._broker.compared, self._compared
        if compared == before[0]:
            return {}
        self._compared = compared, matched
        return {"scans": 1, "compared": compared - before[0], "matched": matched - before[1]}


SYSTEM = ContextBroker()
