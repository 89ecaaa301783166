"""Seed 001 as a system. Implements ``overlay.systems.contract``, the interface for drivers, plans and pages.

Processes of every system import this module, so imports that few of them need are inside functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.settings import SettingInfo, build, describe
from overlay.systems.contract import Setup, System
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.fault_kinds import FAULTS
from overlay.systems.federation.names import BDRS, BROKER, CONSUMER, GAUGES, MEASURES, PROVIDER, UNITS
from overlay.systems.federation.presentation import PRESENTATION
from overlay.systems.federation.profiles import IMPROVED, PROFILE, PROFILES, resolved
from overlay.systems.federation.settings import BY_MULTICAST, USES, Settings
from overlay.systems.roles import REQUESTS, UPDATES, ClientRole, Identity, Place, Role, Title

if TYPE_CHECKING:
    from overlay.core.links import LinkShape
    from overlay.core.settings import Use
    from overlay.faults.faults import Fault
    from overlay.faults.kinds import FaultKind
    from overlay.journal.facts import Fact
    from overlay.load.expectations import Expected
    from overlay.load.windows import Schedule, Windows
    from overlay.systems.cores import Client, Fleet, Meter, Server
    from overlay.systems.federation.load.plans import ClientPlan
    from overlay.topologies import Graph

DEFAULT_BROKERS = 3
"""Of the default topology, a chain as in the paper."""
MICROSECONDS = 1_000
"""In a millisecond."""


class Federation(System):
    """Brokers route notifications of context from providers to consumers that subscribed to it."""

    name = "federation"
    title = "Federated brokers"
    seed = "001"
    summary = (
        "Consumers subscribe to context at their broker. Brokers form a tree, pass subscriptions on to the brokers of "
        "providers, and route notifications back."
    )
    role_names = (BROKER, BDRS)
    entrance_role = BROKER
    role_titles: ClassVar[Mapping[str, Title]] = {BDRS: Title("Registration service", "Registration services")}
    client_roles = {
        CONSUMER: ClientRole("consumers", REQUESTS),
        PROVIDER: ClientRole("providers", UPDATES),
    }
    has_traces = True
    client_fields = ("providers", "consumers")
    profiles = PROFILES
    network_profile = IMPROVED
    network_profile_help = "Networks use improved by default."
    can_shrink = True
    draining_help = "Its clients register at other brokers; notifications that it holds for them are lost."
    shared_settings = frozenset(
        (
            *("keepalive_s", "broker_keepalive_s", "grace_from", "routing", "cycles", "encoding"),
            *("mobile_brokers", "domain", "exports"),
        )
    )
    gauges = GAUGES
    faults = FAULTS
    work_units: ClassVar[Mapping[str, tuple[str, ...]]] = {BROKER: UNITS, BDRS: UNITS}
    measure_names = MEASURES
    ticks_from_measuring = True
    presentation = PRESENTATION
    Settings: ClassVar[type] = Settings

    # ---- choices

    @property
    def settings(self) -> tuple[SettingInfo, ...]:
        return (PROFILE, *describe(Settings))

    @property
    def workload(self) -> tuple[SettingInfo, ...]:
        from overlay.systems.federation.workload import Workload

        return tuple(describe(Workload))

    def uses(self) -> Mapping[str, Use]:
        return USES

    def read_settings(self, values: Mapping[str, Any]) -> Any:
        return build(Settings, resolved(values))

    def read_workload(self, values: Mapping[str, Any]) -> Any:
        from overlay.systems.federation.workload import Workload

        return build(Workload, values)

    def check_fit(self, setup: Setup) -> None:
        from overlay.systems.federation.checks import check_setup

        check_setup(setup)

    # ---- plan

    def default_topology(self, settings: Any, workload: Any) -> Graph:
        from overlay.core.links import Link
        from overlay.topologies import Graph

        return Graph(DEFAULT_BROKERS, tuple(Link(index, index + 1) for index in range(DEFAULT_BROKERS - 1)))

    def roles(self, setup: Setup) -> Sequence[Role]:
        """The registration service is the last server."""
        return (Role(BROKER, setup.graph.brokers), Role(BDRS, 1))

    def kinds(self, setup: Setup) -> Mapping[int, str]:
        return dict.fromkeys(setup.settings.mobile_indices, "mobile")

    def resting_links(self, setup: Setup) -> frozenset[tuple[int, int]]:
        """Those that are no edges of the tree while all brokers are up."""
        from overlay.systems.federation.bdrs.forest import tree_of
        from overlay.systems.federation.names import broker_name

        used = frozenset(tree_of(ServerConfig(setup.settings, setup.graph.brokers, _links(setup.graph))))
        ends = (link.ends for link in setup.graph.links)
        return frozenset((a, b) for a, b in ends if tuple(sorted((broker_name(a), broker_name(b)))) not in used)

    def plan_clients(self, setup: Setup) -> Mapping[str, Sequence[ClientPlan]]:
        from overlay.systems.federation.load.plans import fleets, plan_clients

        return fleets(plan_clients(setup.settings, setup.workload, setup.graph, setup.seed))

    def identity(self, plan: ClientPlan) -> Identity:
        return plan.role, plan.number

    def schedule(self, setup: Setup) -> Schedule:
        from overlay.systems.federation.load.times import schedule

        return schedule(setup)

    def is_drained(self, servers: Iterable[Any], clients: Iterable[Client]) -> bool:
        """Providers wait to be asked until consumers have ended."""
        return not any(client.identity[0] == CONSUMER for client in clients)

    def client_shape(self, setup: Setup, client: Identity, other: int | Identity) -> LinkShape | None:
        if not isinstance(other, int):
            return None
        from overlay.systems.federation.load.links import shape

        return shape(setup.workload)

    def in_common_words(self, faults: object) -> object:
        from overlay.systems.federation.fault_words import in_common_words

        return in_common_words(faults)

    def read_faults(self, setup: Setup, documents: object) -> tuple[Fault, ...]:
        from overlay.systems.federation.fault_times import drawn

        return drawn(super().read_faults(setup, documents), setup.seed)

    def operated_faults(self, setup: Setup, index: int) -> Mapping[str, FaultKind]:
        """Of mobile brokers."""
        from overlay.systems.federation.fault_kinds import MOVE, OFFLINE

        return {name: FAULTS[name] for name in (OFFLINE, MOVE) if index in setup.settings.mobile_indices}

    # ---- cores

    def config_of(self, setup: Setup) -> ServerConfig:
        graph = setup.graph
        is_network = setup.workload is None
        settings = replace(setup.settings, trace_one_in=0) if is_network else setup.settings  # no run reads it
        device_clients = self._device_clients(setup)
        return ServerConfig(settings, graph.brokers, _links(graph), graph.positions, device_clients, is_network)

    def _device_clients(self, setup: Setup) -> tuple[str, ...]:
        """Of a run; the energy of a device is not modelled in networks."""
        if setup.workload is None:
            return ()
        from overlay.systems.federation.load.plans import device_clients

        graph = setup.graph
        return device_clients(setup.settings, setup.workload, graph.brokers, graph.positions, setup.seed)

    def config_document(self, config: ServerConfig) -> dict[str, Any]:
        return asdict(config)

    def read_config(self, document: Mapping[str, Any]) -> ServerConfig:
        positions = document["positions"]
        return ServerConfig(
            build(Settings, document["settings"]),
            document["brokers"],
            tuple(tuple(link) for link in document["links"]),
            None if positions is None else tuple(tuple(place) for place in positions),
            tuple(document["device_clients"]),
            document.get("is_open", False),
        )

    def make_server(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, *, is_simulated: bool = False
    ) -> Server:
        if place.role == BDRS:
            from overlay.systems.federation.bdrs.bdrs import RegistrationService

            return RegistrationService(config, place, chances, wall_offset_ns)
        from overlay.systems.federation.broker.faulted import FaultedBroker

        return FaultedBroker(config, place, chances, wall_offset_ns)

    def make_fleet(
        self,
        plans: Sequence[ClientPlan],
        servers: Sequence[Address],
        setup: Setup,
        windows: Windows,
        *,
        wall_offset_ns: int,
        most_lanes: int,
    ) -> Fleet:
        from overlay.systems.federation.load.fleet import Fleet

        return Fleet(
            plans,
            servers,
            setup.settings,
            setup.workload,
            windows,
            seed=setup.seed,
            wall_offset_ns=wall_offset_ns,
        )

    # ---- life and facts

    def group(self, config: ServerConfig, place: Place) -> Address | None:
        from overlay.systems.federation.clients.terms import MULTICAST

        is_found = config.is_open and config.settings.discovery == BY_MULTICAST
        return MULTICAST if is_found and place.role == BROKER else None

    def facts(self, process: str, server: Server, zero_ns: int) -> Sequence[Fact]:
        from overlay.systems.federation.rows import steps

        return steps(process, server.traces(), zero_ns)

    def measures(self, facts: Iterable[Fact]) -> Mapping[str, float | None]:
        from overlay.systems.federation.measuring import measures

        return measures(facts)

    def ping(self, unix_ms: int) -> bytes:
        from overlay.systems.federation.signs import ping

        return ping(unix_ms)

    def answers_ping(self, data: bytes) -> bool:
        from overlay.systems.federation.signs import answers_ping

        return answers_ping(data)

    def statistics_request(self, unix_ms: int) -> bytes:
        from overlay.peers.questions import ask_figures

        return ask_figures(unix_ms)

    def read_statistics(self, data: bytes) -> Mapping[str, int] | None:
        from overlay.peers.questions import read_figures

        return read_figures(data)

    def make_meter(self, actor: Any, role: str) -> Meter:
        from overlay.systems.federation.metering import server_meter
        from overlay.systems.metering import MessageMeter

        return server_meter(actor) if role in self.role_names else MessageMeter()

    def expected(self, configuration: Mapping[str, Any]) -> Expected:
        from overlay.systems.federation.expectations import expected

        settings = self.read_settings(configuration["settings"])
        workload, topology = self.read_workload(configuration["workload"]), configuration["topology"]
        return expected(settings, workload, topology["brokers"])

    def warnings(self, configurations: Sequence[Mapping[str, Any]], seed: int) -> Sequence[str]:
        from overlay.systems.federation.advice import warnings

        return warnings(configurations)

    @property
    def code(self) -> tuple[Path, ...]:
        """With the channel."""
        from overlay import channel, messages, peers

        return (*super().code, *(Path(str(room.__file__)).parent for room in (channel, messages, peers)))


def _links(graph: Graph) -> tuple[tuple[int, int, int], ...]:
    """As ``ServerConfig.links``."""
    return tuple((*link.ends, round(link.delay_ms * MICROSECONDS)) for link in graph.links)


SYSTEM = Federation()
