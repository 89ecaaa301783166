"""Seed 003 as a system. Implements ``overlay.systems.contract``, the interface for drivers, plans and pages.

Processes of every system import this module, so imports that few of them need are inside functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import InvalidSetting, WireError, within
from overlay.core.settings import build
from overlay.systems.contract import Setup, System
from overlay.systems.radiator.faults import FAULTS
from overlay.systems.radiator.names import GAUGES, MEASURES, UNITS
from overlay.systems.radiator.presentation import PRESENTATION
from overlay.systems.radiator.settings import USES, ServerConfig, Settings
from overlay.systems.radiator.workload import Workload
from overlay.systems.roles import UPDATES, ClientRole, Identity, Place, Role

if TYPE_CHECKING:
    from overlay.core.links import LinkShape
    from overlay.core.settings import Use, Value
    from overlay.faults.churn import Change
    from overlay.journal.facts import Fact
    from overlay.load.expectations import Expected
    from overlay.load.windows import Schedule, Windows
    from overlay.systems.cores import Meter
    from overlay.systems.radiator.load.caller import Caller
    from overlay.systems.radiator.load.fleet import Fleet
    from overlay.systems.radiator.server.service import Service
    from overlay.topologies import Graph

AUDIENCE = "audience"
PADDING_BYTES = 400
"""Of a request for figures, so that the answer has at most three times the bytes."""


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """One client."""

    number: int


class Radiator(System):
    """A server aggregates contexts and pushes them to clients, directly or along chains of them."""

    name = "radiator"
    title = "Radiator"
    seed = "003"
    summary = (
        "Clients send contexts to a server, which aggregates them for each recipient and pushes them to clients, "
        "directly or along chains of clients that forward them."
    )
    role_names = ("server",)
    client_roles = {"client": ClientRole("clients", UPDATES)}
    client_fields = ("clients",)
    draining_help = "Messages that it retains are lost, and its clients register again."
    queries = frozenset({"work"})
    gauges = GAUGES
    faults = FAULTS
    work_units: ClassVar[Mapping[str, tuple[str, ...]]] = {"server": UNITS}
    measure_names = MEASURES
    ticks_from_measuring = True
    has_fixed_topology = True
    presentation = PRESENTATION
    Settings: ClassVar[type] = Settings
    Workload: ClassVar[type] = Workload

    # ---- choices

    def uses(self) -> Mapping[str, Use]:
        return USES

    def check_fit(self, setup: Setup) -> None:
        settings, workload = setup.settings, setup.workload
        if settings.uplink_share and workload is None:
            raise InvalidSetting("settings.uplink_share", "must be 0 for a network, which has no planned load")
        if settings.uplink_share and workload.loop != "open":
            raise InvalidSetting("settings.uplink_share", "needs an open loop, whose load is known before the run")
        if workload is not None:
            with within("workload"):
                self._changes(setup)

    # ---- plan

    def default_topology(self, settings: Any, workload: Any) -> Graph:
        from overlay.topologies import Graph

        return Graph(1, ())

    def roles(self, setup: Setup) -> Sequence[Role]:
        return (Role(self.role_names[0], 1),)

    def plan_clients(self, setup: Setup) -> Mapping[str, Sequence[ClientPlan]]:
        from overlay.load.expectations import FLEET_SIZE

        clients = setup.workload.clients
        return {
            f"clients-{fleet}": [
                ClientPlan(number) for number in range(fleet * FLEET_SIZE, min(clients, (fleet + 1) * FLEET_SIZE))
            ]
            for fleet in range(ceil(clients / FLEET_SIZE))
        }

    def identity(self, plan: ClientPlan) -> Identity:
        return next(iter(self.client_roles)), plan.number

    def schedule(self, setup: Setup) -> Schedule:
        from overlay.load.windows import Schedule

        return Schedule(setup.workload.ramp_s(), setup.workload.duration_s, setup.workload.drain_s)

    def client_shape(self, setup: Setup, client: Identity, other: int | Identity) -> LinkShape | None:
        settings = setup.settings
        shape: LinkShape = settings.server_link if isinstance(other, int) else settings.peer_link
        return None if shape.is_clear else shape

    def in_common_words(self, faults: object) -> object:
        from overlay.systems.radiator.fault_words import in_common_words

        return in_common_words(faults)

    def _changes(self, setup: Setup) -> Mapping[int, Sequence[Change]]:
        """Departures and returns of clients, by number. Raises ``InvalidSetting``."""
        from overlay.faults.churn import schedule

        found: dict[int, list[Change]] = {}
        for change in schedule(setup.workload, setup.workload.clients, setup.seed):
            found.setdefault(change.broker, []).append(change)
        return found

    def is_drained(self, servers: Iterable[Service], clients: Iterable[Caller]) -> bool:  # type: ignore[override]
        """What is retained without a deadline stays so."""
        return all(server.is_idle for server in servers) and all(client.is_idle for client in clients)

    # ---- cores

    def config_of(self, setup: Setup) -> ServerConfig:
        settings = setup.settings
        if setup.workload is None:
            return ServerConfig(settings, is_reported=False)
        if settings.uplink_share:
            from overlay.systems.radiator.load.share import uplink_bytes_per_s

            rate = uplink_bytes_per_s(settings, setup.workload, setup.seed)
            settings = replace(settings, uplink_share=0.0, uplink_bytes_per_s=rate)
        return ServerConfig(settings, setup.workload.audience)

    def derived(self, setup: Setup) -> Mapping[str, Value]:
        if not setup.settings.uplink_share:
            return {}
        return {"uplink_bytes_per_s": self.config_of(setup).settings.uplink_bytes_per_s}

    def config_document(self, config: ServerConfig) -> dict[str, Any]:
        return {**asdict(config.settings), AUDIENCE: config.audience}

    def read_config(self, document: Mapping[str, Any]) -> ServerConfig:
        rest = dict(document)
        audience = rest.pop(AUDIENCE, 0)
        return ServerConfig(build(Settings, rest), audience)

    def make_server(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, *, is_simulated: bool = False
    ) -> Service:
        from overlay.systems.radiator.server.service import Service

        return Service(config, place.address, chances)

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
        from overlay.systems.radiator.load.fleet import Fleet

        return Fleet(
            [plan.number for plan in plans],
            servers[0],
            setup.settings,
            setup.workload,
            windows,
            self._changes(setup),
            seed=setup.seed,
            wall_offset_ns=wall_offset_ns,
        )

    # ---- life and facts

    def facts(self, process: str, server: Service, zero_ns: int) -> Sequence[Fact]:
        from overlay.systems.radiator.rows import rows

        return rows(process, server.epoch, server.traces(), zero_ns)

    def measures(self, facts: Iterable[Fact]) -> Mapping[str, float | None]:
        from overlay.systems.radiator.measuring import measures

        return measures(facts)

    def ping(self, unix_ms: int) -> bytes:
        from overlay.systems.radiator.wire.codec import encode
        from overlay.systems.radiator.wire.messages import Alive

        return encode(Alive(unix_ms))

    def answers_ping(self, data: bytes) -> bool:
        from overlay.systems.radiator.wire.codec import parse
        from overlay.systems.radiator.wire.messages import RegisterAgain

        try:
            return isinstance(parse(data), RegisterAgain)
        except WireError:
            return False

    def statistics_request(self, unix_ms: int) -> bytes:
        from overlay.systems.radiator.wire.codec import encode
        from overlay.systems.radiator.wire.messages import Inspect, Subject

        return encode(Inspect(unix_ms & 0xFFFFFFFF, 0, Subject.FIGURES, padding=bytes(PADDING_BYTES)))

    def read_statistics(self, data: bytes) -> Mapping[str, int] | None:
        from overlay.core.binary import read_untrusted
        from overlay.systems.radiator.wire.codec import parse
        from overlay.systems.radiator.wire.messages import Inspected, Inspection

        try:
            message = parse(data)
            if not isinstance(message, Inspected) or message.code != Inspection.OK:
                return None
            found = read_untrusted(message.body)
        except WireError:
            return None
        is_figures = isinstance(found, dict) and all(type(value) is int for value in found.values())
        return found if is_figures else None

    def make_meter(self, actor: Any, role: str) -> Meter:
        from overlay.systems.radiator.metering import MessageMeter, ServerMeter

        return ServerMeter(actor) if role in self.role_names else MessageMeter()

    def expected(self, configuration: Mapping[str, Any]) -> Expected:
        from overlay.systems.radiator.expectations import expected

        return expected(self.read_settings(configuration["settings"]), self.read_workload(configuration["workload"]))


SYSTEM = Radiator()
