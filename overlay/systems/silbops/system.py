"""Seed 002 as a system. Implements ``overlay.systems.contract``, the interface for drivers, plans and pages.

Processes of every system import this module, so imports that few of them need are inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.settings import SettingInfo, build, describe
from overlay.systems.contract import Setup, System
from overlay.systems.roles import UPDATES, ClientRole, Identity, Place, Role
from overlay.systems.silbops.config import ServerConfig
from overlay.systems.silbops.names import BROKER, GAUGES, MEASURES, PUBLISHER, SUBSCRIBER, UNITS
from overlay.systems.silbops.presentation import PRESENTATION
from overlay.systems.silbops.profiles import IMPROVED, PROFILE, PROFILES, resolved
from overlay.systems.silbops.settings import USES, Settings

if TYPE_CHECKING:
    from overlay.core.settings import Use
    from overlay.journal.facts import Fact
    from overlay.load.expectations import Expected
    from overlay.load.windows import Schedule, Windows
    from overlay.systems.cores import Client, Fleet, Meter, Server
    from overlay.systems.silbops.load.plans import ClientPlan
    from overlay.topologies import Graph

DEFAULT_LINKS = ((0, 1), (1, 2), (1, 3), (3, 4))
"""Of the default topology: the tree of the paper's Fig. 3 with one broker more."""


class Silbops(System):
    """Brokers route notifications by content and by functions of the contexts of publishers and subscribers."""

    name = "silbops"
    title = "SilboPS"
    seed = "002"
    summary = (
        "Publish/subscribe by content and context. A subscriber sends its context once, apart from its subscriptions, "
        "which have functions of it; the other arm, SIENA, writes the context into each subscription."
    )
    role_names = (BROKER,)
    client_roles = {
        PUBLISHER: ClientRole("publishers", UPDATES),
        SUBSCRIBER: ClientRole("subscribers", UPDATES),
    }
    client_fields = ("publishers", "subscribers")
    profiles = PROFILES
    network_profile = IMPROVED
    draining_help = "Its clients attach to other brokers; notifications that it keeps for them are lost."
    shared_settings = frozenset(("arm", "publisher_scope", "publisher_context", "prune"))
    gauges = GAUGES
    measure_names = MEASURES
    work_units: ClassVar[Mapping[str, tuple[str, ...]]] = {BROKER: UNITS}
    ticks_from_measuring = True
    presentation = PRESENTATION
    Settings: ClassVar[type] = Settings

    # ---- choices

    @property
    def settings(self) -> tuple[SettingInfo, ...]:
        return (PROFILE, *describe(Settings))

    @property
    def workload(self) -> tuple[SettingInfo, ...]:
        from overlay.systems.silbops.workload import Workload

        return tuple(describe(Workload))

    def uses(self) -> Mapping[str, Use]:
        return USES

    def read_settings(self, values: Mapping[str, Any]) -> Any:
        return build(Settings, resolved(values))

    def read_workload(self, values: Mapping[str, Any]) -> Any:
        from overlay.systems.silbops.workload import Workload

        return build(Workload, values)

    def check_fit(self, setup: Setup) -> None:
        from overlay.systems.silbops.checks import check_setup

        check_setup(setup)

    # ---- plan

    def default_topology(self, settings: Any, workload: Any) -> Graph:
        from overlay.core.links import Link
        from overlay.topologies import Graph

        return Graph(len(DEFAULT_LINKS) + 1, tuple(Link(*ends) for ends in DEFAULT_LINKS))

    def roles(self, setup: Setup) -> Sequence[Role]:
        return (Role(BROKER, setup.graph.brokers),)

    def resting_links(self, setup: Setup) -> Sequence[tuple[int, int]]:
        """Those that are not of the tree: none is used instead of a lost one."""
        from overlay.systems.silbops.tree import resting

        return resting(setup.graph.brokers, (link.ends for link in setup.graph.links))

    def plan_clients(self, setup: Setup) -> Mapping[str, Sequence[ClientPlan]]:
        from overlay.systems.silbops.load.plans import fleets, plan_clients

        return fleets(plan_clients(setup.workload, setup.graph.brokers))

    def identity(self, plan: ClientPlan) -> Identity:
        return plan.role, plan.number

    def schedule(self, setup: Setup) -> Schedule:
        from overlay.systems.silbops.load.times import schedule
        from overlay.systems.silbops.tree import longest_delay_ms

        delays = {link.ends: link.delay_ms for link in setup.graph.links}
        return schedule(setup.workload, longest_delay_ms(setup.graph.brokers, delays) / 1_000)

    def is_drained(self, servers: Iterable[Any], clients: Iterable[Client]) -> bool:
        """Whether the network is settled."""
        return all(client.is_settled for client in clients) and all(server.is_settled for server in servers)  # type: ignore[attr-defined]

    # ---- cores

    def config_of(self, setup: Setup) -> ServerConfig:
        is_network = setup.workload is None
        settings = replace(setup.settings, trace_one_in=0) if is_network else setup.settings  # no run reads it
        links = tuple(link.ends for link in setup.graph.links)
        return ServerConfig(settings, setup.graph.brokers, links, is_followed=not is_network)

    def config_document(self, config: ServerConfig) -> dict[str, Any]:
        return asdict(config)

    def read_config(self, document: Mapping[str, Any]) -> ServerConfig:
        links = tuple((one, other) for one, other in document["links"])
        return ServerConfig(build(Settings, document["settings"]), document["brokers"], links, document["is_followed"])

    def make_server(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, *, is_simulated: bool = False
    ) -> Server:
        from overlay.systems.silbops.broker.broker import Broker

        followed = replace(config, is_followed=config.is_followed and is_simulated)
        return Broker(followed, place, chances, wall_offset_ns)

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
        from overlay.systems.silbops.load.fleet import Fleet
        from overlay.systems.silbops.tree import parents_of

        return Fleet(
            plans,
            servers,
            setup.settings,
            setup.workload,
            windows,
            seed=setup.seed,
            wall_offset_ns=wall_offset_ns,
            parents=parents_of(setup.graph.brokers, (link.ends for link in setup.graph.links)),
        )

    # ---- life and facts

    def facts(self, process: str, server: Server, zero_ns: int) -> Sequence[Fact]:
        from overlay.systems.silbops.rows import of_broker

        return of_broker(process, server.traces(), zero_ns)

    def time_server(self, server: Any, clock: Callable[[], int]) -> None:
        server.time_messages(clock)

    def measures(self, facts: Iterable[Fact]) -> Mapping[str, float | None]:
        from overlay.systems.silbops.measuring.figures import measures

        return measures(facts)

    def ping(self, unix_ms: int) -> bytes:
        from overlay.peers.questions import ping

        return ping(unix_ms)

    def answers_ping(self, data: bytes) -> bool:
        from overlay.peers.questions import read_answer

        return read_answer(data) is not None

    def statistics_request(self, unix_ms: int) -> bytes:
        from overlay.peers.questions import ask_figures

        return ask_figures(unix_ms)

    def read_statistics(self, data: bytes) -> Mapping[str, int] | None:
        from overlay.peers.questions import read_figures

        return read_figures(data)

    def make_meter(self, actor: Any, role: str) -> Meter:
        from overlay.systems.metering import MessageMeter
        from overlay.systems.silbops.metering import BrokerMeter

        return BrokerMeter(actor) if role == BROKER else MessageMeter()

    def expected(self, configuration: Mapping[str, Any]) -> Expected:
        from overlay.systems.silbops.expectations import expected

        settings = self.read_settings(configuration["settings"])
        workload = self.read_workload(configuration["workload"])
        return expected(settings, workload, configuration["topology"]["brokers"])

    @property
    def code(self) -> tuple[Path, ...]:
        """With the channel."""
        from overlay import channel, messages, peers

        return (*super().code, *(Path(str(room.__file__)).parent for room in (channel, messages, peers)))


SYSTEM = Silbops()
