"""Seed 004 as a system. Implements ``overlay.systems.contract``, the interface for drivers, plans and pages.

Processes of every system import this module, so imports that few of them need are inside functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.settings import SettingInfo, build, describe
from overlay.faults.kinds import FaultKind
from overlay.faults.of_log import log_faults
from overlay.systems.contextnet.config import ServerConfig
from overlay.systems.contextnet.names import (
    APPLICATION,
    APPLICATIONS,
    DEFINER,
    DRAIN,
    GATEWAY,
    GAUGES,
    MEASURES,
    MQTT,
    MTD,
    NODE,
    NODES,
    POA,
    UNITS,
)
from overlay.systems.contextnet.presentation import PRESENTATION
from overlay.systems.contextnet.profiles import IMPROVED, PROFILE, PROFILES, resolved
from overlay.systems.contextnet.settings import USES, Settings
from overlay.systems.contextnet.transport.settings import QUIC, TETHER
from overlay.systems.contract import Setup, System
from overlay.systems.roles import REQUESTS, ClientRole, Identity, Place, Role, Title, role_of

if TYPE_CHECKING:
    from overlay.core.links import LinkShape
    from overlay.core.settings import Use
    from overlay.journal.facts import Fact
    from overlay.load.expectations import Expected
    from overlay.load.windows import Schedule, Windows
    from overlay.log.spec import LogSpec
    from overlay.log.topics import Record
    from overlay.systems.contextnet.load.plans import ClientPlan
    from overlay.systems.cores import Client, Fleet, Meter, Server
    from overlay.topologies import Graph


class ContextNet(System):
    """Gateways between mobile nodes and a partitioned log, with a manager that balances them and a store."""

    name = "contextnet"
    title = "ContextNet"
    seed = "004"
    summary = (
        "Gateways connect mobile nodes to applications over a partitioned log. Nodes come, go and move between "
        "gateways; what cannot be delivered is stored until they return."
    )
    role_names = (GATEWAY, POA, MTD, DEFINER, MQTT)
    entrance_role = GATEWAY
    role_titles: ClassVar[Mapping[str, Title]] = {
        POA: Title("PoA manager", "PoA managers"),
        MTD: Title("Message store", "Message stores"),
        DEFINER: Title("Group definer", "Group definers"),
        MQTT: Title("MQTT proxy", "MQTT proxies"),
    }
    stream_roles: ClassVar[Mapping[str, str]] = {MQTT: "MQTT 3.1.1"}
    client_roles = {NODE: ClientRole(NODES, REQUESTS), APPLICATION: ClientRole(APPLICATIONS, REQUESTS)}
    client_fields = ("nodes",)
    profiles = PROFILES
    network_profile = IMPROVED
    draining_help = "Its nodes connect to other gateways; what it could not deliver is stored."
    shared_settings = frozenset(
        (
            *("routing", "log_engine", "partitions", "member_timeout_s", "retention_s", "durability"),
            *("mtd_enabled", "auth", "network_gateways", "group_fields", "mqtt_proxies", "transport"),
        )
    )
    gauges = GAUGES
    queries = frozenset(("stored_ids", "waiting_ids"))
    faults: ClassVar[Mapping[str, FaultKind]] = {
        **log_faults((GATEWAY, POA, MTD, DEFINER, MQTT), (APPLICATION,)),
        DRAIN: FaultKind("Drained", servers=(GATEWAY,)),
    }
    work_units: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
        (GATEWAY, POA, MTD, DEFINER, APPLICATIONS), UNITS
    )
    measure_names = MEASURES
    ticks_from_measuring = True
    has_fixed_topology = True
    presentation = PRESENTATION
    Settings: ClassVar[type] = Settings

    @property
    def timed_roles(self) -> tuple[str, ...]:
        """Without proxies, which do nothing in virtual time."""
        return (*(role for role in self.role_names if role != MQTT), NODES, APPLICATIONS)

    # ---- choices

    @property
    def settings(self) -> tuple[SettingInfo, ...]:
        return (PROFILE, *describe(Settings))

    @property
    def workload(self) -> tuple[SettingInfo, ...]:
        from overlay.systems.contextnet.workload import Workload

        return tuple(describe(Workload))

    def uses(self) -> Mapping[str, Use]:
        return USES

    def read_settings(self, values: Mapping[str, Any]) -> Any:
        return build(Settings, resolved(values))

    def read_workload(self, values: Mapping[str, Any]) -> Any:
        from overlay.systems.contextnet.workload import Workload

        return build(Workload, values)

    def check_fit(self, setup: Setup) -> None:
        from overlay.systems.contextnet.workload import ONE

        if setup.workload is not None and setup.graph.brokers != setup.workload.gateways:
            sentence = f"are {setup.workload.gateways}, and the topology has {setup.graph.brokers} nodes"
            raise InvalidSetting("workload.gateways", sentence)
        if setup.workload is not None and setup.workload.fleet_sockets == ONE and setup.settings.transport == QUIC:
            raise InvalidSetting("workload.fleet_sockets", f"{ONE} needs transport {TETHER}, whose ids it knows")

    def check_engine(self, setup: Setup, engine: str, is_recorded: bool) -> None:
        """QUIC is live only: aioquic draws random numbers of its own, so that no seed repeats a run of it."""
        if setup.settings.transport != QUIC:
            return
        if engine == SIMULATED:
            raise InvalidSetting("settings.transport", f"{QUIC} runs live only; simulated runs need {TETHER}")
        if is_recorded:
            raise InvalidSetting("record_mb", f"must be 0 with transport {QUIC}, which no replay repeats")

    # ---- plan

    def default_topology(self, settings: Any, workload: Any) -> Graph:
        """The gateways, which are not linked: they only use the log."""
        from overlay.topologies import Graph

        return Graph(settings.network_gateways if workload is None else workload.gateways, ())

    def roles(self, setup: Setup) -> Sequence[Role]:
        definers = setup.workload.definers if setup.workload else len(setup.settings.fields)
        settings = setup.settings
        counts = {
            GATEWAY: setup.graph.brokers,
            POA: 1,
            MTD: int(settings.mtd_enabled),
            DEFINER: definers,
            MQTT: settings.mqtt_proxies,
        }
        return tuple(Role(name, count) for name, count in counts.items() if count)

    def plan_clients(self, setup: Setup) -> Mapping[str, Sequence[ClientPlan]]:
        from overlay.systems.contextnet.load.plans import plan_clients

        return plan_clients(setup.workload)

    def identity(self, plan: ClientPlan) -> Identity:
        return plan.role, plan.number

    def schedule(self, setup: Setup) -> Schedule:
        from overlay.systems.contextnet.load.times import schedule

        return schedule(setup.settings, setup.workload)

    def is_drained(self, servers: Iterable[Any], clients: Iterable[Client]) -> bool:
        """Whether every message has its answer, and no node is away."""
        return all(client.is_settled for client in clients)  # type: ignore[attr-defined]

    def client_shape(self, setup: Setup, client: Identity, other: int | Identity) -> LinkShape | None:
        if client[0] != NODE or setup.workload is None:
            return None
        from overlay.systems.contextnet.load.times import link

        return link(setup.workload)

    def log_of(self, setup: Setup) -> LogSpec:
        from overlay.log.spec import LogSpec
        from overlay.systems.contextnet.records.names import topics
        from overlay.systems.roles import server_names

        settings, config = setup.settings, self.config_of(setup)
        gateways = server_names([Role(GATEWAY, setup.graph.brokers)])
        inbound = setup.workload.brokers if setup.workload else settings.partitions
        known = topics(
            gateways,
            config.application_names,
            settings.partitions,
            inbound,
            (*settings.topics_allowed, *settings.topics_of_mqtt),
        )
        return LogSpec(known, settings.log_engine, settings.member_timeout_s, settings.retention_s, settings.durability)

    def operated_faults(self, setup: Setup, index: int) -> Mapping[str, FaultKind]:
        """A gateway can be drained; gateways are the first servers."""
        return {DRAIN: self.faults[DRAIN]} if index < setup.graph.brokers else {}

    # ---- cores

    def config_of(self, setup: Setup) -> ServerConfig:
        from overlay.systems.contextnet.keys import network_secret

        secret, workload = (setup.secret or network_secret(setup.seed)).hex(), setup.workload
        if workload is None:
            return ServerConfig(replace(setup.settings, trace_one_in=0), secret)  # no run reads it
        return ServerConfig(
            setup.settings,
            secret,
            workload.application_count,
            workload.definers,
            workload.capacities,
            workload.load_noise,
            workload.region_km,
        )

    def config_document(self, config: ServerConfig) -> dict[str, Any]:
        return asdict(config)

    def read_config(self, document: Mapping[str, Any]) -> ServerConfig:
        rest = {**document, "capacities": tuple(document["capacities"])}
        return ServerConfig(**{**rest, "settings": build(Settings, rest["settings"])})

    def make_server(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, *, is_simulated: bool = False
    ) -> Server:
        from overlay.systems.contextnet.servers import make_server

        server: Server = make_server(config, place, chances, wall_offset_ns)
        return server

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
        from overlay.systems.contextnet.keys import network_secret
        from overlay.systems.contextnet.load.fleet import Fleet

        return Fleet(
            plans,
            servers[: setup.graph.brokers],
            setup.settings,
            setup.workload,
            windows,
            seed=setup.seed,
            secret=network_secret(setup.seed),
            wall_offset_ns=wall_offset_ns,
        )

    # ---- life and facts

    def facts(self, process: str, server: Any, zero_ns: int) -> Sequence[Fact]:
        from overlay.systems.contextnet.servers import facts

        return facts(process, role_of(process), server, zero_ns)

    def holdings(self, server: Any, now: int) -> Sequence[bytes]:
        """The ids of the messages that it still has."""
        from overlay.systems.contextnet.servers import held

        return held(role_of(server.name), server)

    def closing_facts(self, process: str, held: Any, at_us: int) -> Sequence[Fact]:
        from overlay.systems.contextnet.rows import Held, row

        return [row(at_us, Held(id.hex()), process) for id in held or ()]

    def uncommitted_facts(self, record: Record, at_us: int) -> Sequence[Fact]:
        from overlay.systems.contextnet.rows import Held, row
        from overlay.systems.contextnet.servers import uncommitted_id

        id = uncommitted_id(record)
        return () if id is None else (row(at_us, Held(id.hex()), "log"),)

    def measures(self, facts: Iterable[Fact]) -> Mapping[str, float | None]:
        from overlay.systems.contextnet.measuring.figures import measures

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
        from overlay.systems.contextnet.metering import DatagramMeter, RecordMeter

        return RecordMeter(actor) if role in self.work_units else DatagramMeter()

    def expected(self, configuration: Mapping[str, Any]) -> Expected:
        from overlay.systems.contextnet.expectations import expected

        return expected(self.read_settings(configuration["settings"]), self.read_workload(configuration["workload"]))

    def warnings(self, configurations: Sequence[Mapping[str, Any]], seed: int) -> Sequence[str]:
        from overlay.log.spec import MEMORY

        live = [one["settings"] for one in configurations if one["engine"] != SIMULATED]
        if all(self.read_settings(one).log_engine != MEMORY for one in live):
            return []
        return [f"The log engine {MEMORY} is for simulated runs, so that the live run will fail."]

    @property
    def code(self) -> tuple[Path, ...]:
        """With the log, and what answers operators."""
        from overlay import log, peers

        return (*super().code, *(Path(str(room.__file__)).parent for room in (log, peers)))


SYSTEM = ContextNet()
