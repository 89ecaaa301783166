"""The interface of a system. Drivers, plans, load, lake and pages use a system only through this interface.

A system is the subject of one seed: its settings, its processes, its servers and clients, and the orders that turn
started servers into a working overlay. ``registry`` lists all systems; each has its own folder. Everything is pure:
time and randomness are passed as arguments. ``cores`` has the protocols of what a system makes, ``roles`` the names
of its processes, ``presentation`` how its settings are shown.

::

    Setup ─ config_of ───> make_server ──> Server   one for each of ``roles``, driven live or simulated
          ─ plan_clients ─> make_fleet ──> Client, Client, ...   the clients of one process
          ─ make_assembly ─> Order ──> Order ...   from started servers to a working overlay

Forms, REST, plans and drivers call the methods above ``make_server`` in any process, often thousands of times: they
depend only on their arguments. A *configuration* is plain values: ``system``, ``engine``, ``topology`` (``brokers``,
``links``, ``positions``), ``settings``, ``workload``, ``faults``. ``docs/add-a-system.md`` has the steps.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.engines import ENGINES
from overlay.core.errors import InvalidSetting, within
from overlay.core.processes import role_of
from overlay.core.settings import SettingInfo, Value, build, describe
from overlay.journal.facts import ALL_BROKERS
from overlay.systems.cores import Meter, NoOrders
from overlay.systems.presentation import Presentation
from overlay.systems.roles import REQUESTS, SERVER, UPDATES, Title, client_name, server_names

if TYPE_CHECKING:  # imported for annotations only, to save memory in broker processes
    from overlay.core.links import LinkShape
    from overlay.core.settings import Use
    from overlay.faults.churn import Change
    from overlay.faults.faults import Fault
    from overlay.faults.kinds import FaultKind
    from overlay.journal.facts import Fact
    from overlay.load.expectations import Expected
    from overlay.load.windows import Schedule, Windows
    from overlay.log.spec import LogSpec
    from overlay.log.topics import Record
    from overlay.systems.cores import Assembly, Client, Fleet, Introduction, Plan, Server
    from overlay.systems.roles import ClientRole, Identity, Place, Role
    from overlay.topologies import Graph
    from overlay.topologies.walks import WalkEstimate

PROFILE = "profile"
"""The setting with the name of a profile, in systems with profiles."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A run or network before it starts. Equal setups have equal servers, clients, churn and orders."""

    settings: Any
    """The result of ``System.read_settings``."""
    workload: Any
    """The result of ``System.read_workload``; ``None`` for a network."""
    graph: Graph
    """Its topology."""
    seed: int = 0
    secret: bytes = b""
    """Of a network: what its servers derive theirs from. Empty: they follow from the seed, which is no secret."""


@dataclass(frozen=True, slots=True)
class WalkPolicy:
    """A policy of walks, for the editor of topologies."""

    label: str
    """The continuation of *a walk that …*."""
    estimate: Callable[[Graph], WalkEstimate]
    """Estimates the length of walks on a checked topology."""


class System(ABC):
    """Base class of systems. Subclasses describe themselves in class attributes and create their parts in methods."""

    name: ClassVar[str]
    """The name in documents: lower case, words joined by hyphens."""
    title: ClassVar[str]
    """Its name on pages."""
    seed: ClassVar[str]
    """Number of the document that describes it."""
    summary: ClassVar[str]
    """What it is, in one or two sentences, for pages."""
    role_names: ClassVar[tuple[str, ...]]
    """The names of the roles of its servers, including those that a setting may leave out; in the order of
    ``roles``."""
    role_titles: ClassVar[Mapping[str, Title]] = {}
    """The titles of roles that are not their names: ``{"registry": Title("Registry", "Registries")}``."""
    entrance_role: ClassVar[str] = ""
    """The role of the servers through which clients enter a network; empty: any."""
    stream_roles: ClassVar[Mapping[str, str]] = {}
    """The roles of its servers with connections (``overlay.core.streams.StreamUser``), and what their clients speak:
    *MQTT 3.1.1*. Clients connect by TCP to the address of the server's datagrams."""
    queries: ClassVar[frozenset[str]] = frozenset()
    """The methods of its servers, in addition to those of ``Server``, that only read. A recorded server refuses all
    others, because its replay would miss them."""
    faults: ClassVar[Mapping[str, FaultKind]] = {}
    """Its own faults, by their names in documents. Their targets are ``overlay.faults.kinds.Faulted``."""
    engines: ClassVar[tuple[str, ...]] = tuple(ENGINES)
    """The names of the engines that can run it, from ``overlay.core.engines``."""
    network_profile: ClassVar[str] = ""
    """The default profile of networks; empty: that of the settings."""
    network_profile_help: ClassVar[str] = ""
    """The reason for it, for forms and commands."""
    gauges: ClassVar[frozenset[str]] = frozenset()
    """Counters of its servers that are current values; the others only grow."""
    table_gauge: ClassVar[str] = ""
    """The gauge with the bytes of a server's table, shown as ``table_bytes``; empty: its servers have no table."""
    can_grow: ClassVar[bool] = False
    """Whether servers and links can be added to a running network and taken from it, with ``can_shrink``. Its assembly
    then follows (``Assembly.reshape``). Settings can change, and servers restart, in networks of every system."""
    can_shrink: ClassVar[bool] = False
    """Whether nodes of the topology can leave a running network, for good or until they are returned, so that the
    others go on without them."""
    shared_settings: ClassVar[frozenset[str]] = frozenset()
    """Settings that all servers of a network must have in common, or that its assembly uses: they cannot change while
    it runs, since servers restart with changed settings one at a time."""
    draining_help: ClassVar[str] = ""
    """What becomes of the entries of a server that leaves a network that goes on, as a sentence."""
    has_fixed_topology: ClassVar[bool] = False
    """Whether its runs and networks always have the default topology, so that forms offer no other."""
    client_fields: ClassVar[tuple[str, ...]] = ()
    """The workload fields with the numbers of clients: ``providers``."""
    work_units: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Work that is not per message, by role: the units that its meter counts, such as entries compared."""
    presentation: ClassVar[Presentation] = Presentation()
    """The words, axes and sections of its settings."""
    has_traces: ClassVar[bool] = False
    """Whether runs have traces of single requests, so that their pages link to them."""
    strategies: ClassVar[tuple[str, ...]] = ()
    """The values of its setting ``search``, which filters and columns of runs call ``strategy``."""
    profiles: ClassVar[Mapping[str, Mapping[str, Value]]] = {}
    """The values of each profile; other settings have their defaults."""
    Settings: ClassVar[type]
    """A dataclass of settings, with fields from ``overlay.core.settings.setting``."""
    Workload: ClassVar[type]
    """The same for the workload."""

    telemetry: ClassVar[str] = ""
    """``MODULE:CLASS`` of the telemetry of a system from another package; empty: none."""
    programs: ClassVar[str] = ""
    """``MODULE:NAME`` of its commands, as in ``overlay.programs``, if it is from another package; empty: none."""
    bridging: ClassVar[str] = ""
    """``MODULE:NAME`` of its ``overlay.systems.bridging.Bridging``; empty: its networks have no bridges."""
    web_app: ClassVar[str] = ""
    """The Django application of a system from another package, which registers its ``Web`` when ready; empty: none."""

    def title_of(self, role: str) -> Title:
        """The title of a role: *Broker*, *Brokers*."""
        one = role.replace("-", " ").capitalize()
        return self.role_titles.get(role, Title(one, f"{one}s"))

    @property
    def server_title(self) -> Title:
        """The title of any of its servers."""
        return self.title_of(self.role_names[0]) if len(self.role_names) == 1 else SERVER

    @property
    def entrance_title(self) -> Title:
        """The title of the servers through which clients enter a network."""
        return self.title_of(self.entrance_role) if self.entrance_role else self.server_title

    def is_entrance(self, process: str) -> bool:
        """Whether clients enter a network through this server."""
        return not self.entrance_role or role_of(process) == self.entrance_role

    @property
    def timed_roles(self) -> tuple[str, ...]:
        """The roles of servers and of clients that have costs of their own: names of processes without the number."""
        return (*self.role_names, *(role.processes for role in self.client_roles.values()))

    # ---- choices

    @property
    def settings(self) -> tuple[SettingInfo, ...]:
        """Its settings, in the order of forms."""
        return tuple(describe(self.Settings))

    @property
    def workload(self) -> tuple[SettingInfo, ...]:
        """The fields of its workload, in the order of forms."""
        return tuple(describe(self.Workload))

    def uses(self) -> Mapping[str, Use]:
        """The conditions of settings that depend on another setting or on the engine, by name."""
        return {}

    def of_profile(self, settings: Mapping[str, Any]) -> Mapping[str, Value]:
        """The values of the profile named in ``settings``; empty for an unknown profile, which a check refuses."""
        name = settings.get(PROFILE)
        return self.profiles.get(name, {}) if isinstance(name, str) else {}

    def whole(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Every setting: the given value with words for numbers replaced, or that of its profile, or its default."""
        chosen = {**self.of_profile(settings), **settings}
        return {**settings, **{info.name: info.read(chosen.get(info.name, info.default)) for info in self.settings}}

    def read_settings(self, values: Mapping[str, Any]) -> Any:
        """The settings in a document. Raises ``InvalidSetting``."""
        return build(self.Settings, values)

    def settings_document(self, settings: Any) -> dict[str, Any]:
        """The document of settings; ``read_settings`` of it is equal."""
        return asdict(settings)

    def read_workload(self, values: Mapping[str, Any]) -> Any:
        """The workload in a document. Raises ``InvalidSetting``."""
        return build(self.Workload, values)

    def workload_document(self, workload: Any) -> dict[str, Any]:
        """The document of a workload; ``read_workload`` of it is equal."""
        return asdict(workload)

    def setup(
        self,
        settings: Mapping[str, Any],
        workload: Mapping[str, Any] | None,
        graph: Graph,
        seed: int = 0,
        secret: bytes = b"",
    ) -> Setup:
        """A setup from documents; ``workload`` is ``None`` for a network. Raises ``InvalidSetting``, with the names of
        fields below ``settings.`` and ``workload.``."""
        with within("settings"):
            read = self.read_settings(settings)
        with within("workload"):
            return Setup(read, None if workload is None else self.read_workload(workload), graph, seed, secret)

    def check(self, setup: Setup) -> int:
        """Find errors before a launch, and again when a driver reads the document. Returns the number of servers.

        Raises ``InvalidSetting`` with the names of fields below ``settings.``, ``workload.`` or ``topology``.
        """
        servers = sum(role.count for role in self.roles(setup))
        if servers < setup.graph.brokers:
            sentence = f"has {setup.graph.brokers:,} nodes, more than the number of servers ({servers:,})"
            raise InvalidSetting("topology", sentence)
        self.check_fit(setup)
        return servers

    def check_fit(self, setup: Setup) -> None:
        """Find settings, workload and topology that do not fit each other; as fast as possible, since thousands of
        setups may be checked at once. Raises ``InvalidSetting``, as ``check``.
        """
        if setup.workload is not None:
            with within("workload"):
                self.plan_clients(setup)
                self.churn(setup)

    def check_engine(self, setup: Setup, engine: str, is_recorded: bool) -> None:  # noqa: B027 (most run anywhere)
        """Find settings that this engine cannot run, or of which a recording cannot be replayed. Raises
        ``InvalidSetting``, as ``check``."""

    # ---- plan

    def default_topology(self, settings: Any, workload: Any) -> Graph | None:
        """The topology of a definition that names none, for the results of ``read_settings`` and ``read_workload``; by
        default it must name one."""
        return None

    @property
    def needs_topology(self) -> bool:
        """Whether a definition must name a topology."""
        return type(self).default_topology is System.default_topology

    @abstractmethod
    def roles(self, setup: Setup) -> Sequence[Role]:
        """Its servers: the roles of ``role_names`` that this setup has, in that order. The first servers are the nodes
        of ``setup.graph``, in its order."""

    def kinds(self, setup: Setup) -> Mapping[int, str]:
        """Servers that differ from others of their role, by index, with one word for it (*mobile*); for drawings."""
        return {}

    def resting_links(self, setup: Setup) -> Collection[tuple[int, int]]:
        """Links of the topology that no server uses at the start, the lower index first; for drawings."""
        return ()

    @abstractmethod
    def plan_clients(self, setup: Setup) -> Mapping[str, Sequence[Plan]]:
        """All clients, by the name of their process: ``callers-0`` (``ClientRole.processes``), each with at most
        ``overlay.load.expectations.FLEET_SIZE``. A process without clients is not started. Raises ``InvalidSetting``
        with the name of a workload field."""

    def schedule(self, setup: Setup) -> Schedule:
        """The times of a run; by default ``ramp_s()`` and ``duration_s`` of its workload. Not called for networks."""
        from overlay.load.windows import Schedule

        return Schedule(setup.workload.ramp_s(), setup.workload.duration_s)

    def is_drained(self, servers: Iterable[Any], clients: Iterable[Client]) -> bool:
        """Whether nothing is under way any more, so that a simulated run may end before the whole of its drain.

        Live, no process sees all servers and clients, and a run of clients that only receive drains as long as it may.
        """
        return False

    def churn(self, setup: Setup) -> tuple[Change, ...]:
        """Departures and returns of servers during measuring, in chronological order. Raises ``InvalidSetting``."""
        return ()

    def identity(self, plan: Plan) -> Identity:
        """The identity of a planned client: its role and number, as ``Client.identity``. Needed only if clients are
        targets of ``faults``."""
        raise NotImplementedError(f"{self.name} does not identify its planned clients")

    def in_common_words(self, faults: object) -> object:
        """Documents of faults, with further words that this system has for them replaced by those that forms know."""
        return faults

    def read_faults(self, setup: Setup, documents: object) -> tuple[Fault, ...]:
        """The faults of a run in ``documents``. Raises ``InvalidSetting``."""
        from overlay.faults.fault_documents import read

        @cache
        def clients() -> list[str]:
            plans = (plan for plans in self.plan_clients(setup).values() for plan in plans)
            return [client_name(self.identity(plan)) for plan in plans]

        graph, duration_s = setup.graph, 0.0 if setup.workload is None else self.schedule(setup).duration_s
        servers = server_names(self.roles(setup)) if documents else ()
        links = (link.ends for link in graph.links)
        return read(
            self.in_common_words(documents),
            graph.brokers,
            links,
            duration_s,
            servers=servers,
            kinds=self.faults,
            clients=clients,
            seed=setup.seed,
        )

    def operated_faults(self, setup: Setup, index: int) -> Mapping[str, FaultKind]:
        """Those of ``faults`` that an operator may begin and end at a server while a network runs. They have no
        fields."""
        return {}

    def client_shape(self, setup: Setup, client: Identity, other: int | Identity) -> LinkShape | None:
        """The shape of each direction between a client and ``other``, a server's index or another client; ``None``:
        clear. Equal calls have equal results. Applied in virtual time only; settings for it are in ``uses``."""
        return None

    # ---- cores

    def config_of(self, setup: Setup) -> Any:
        """The configuration of every server, without its place. For a network, ``setup.workload`` is ``None``."""
        return setup.settings

    def log_of(self, setup: Setup) -> LogSpec | None:
        """The log that its servers and clients share; drivers serve those that are ``overlay.log.node.LogUser``. By
        default there is none."""
        return None

    def derived(self, setup: Setup) -> Mapping[str, Value]:
        """Values that follow from a setup with its seed, by name, for the manifest of a run."""
        return {}

    def config_document(self, config: Any) -> dict[str, Any]:
        """The configuration as plain values, for a recording."""
        return asdict(config)

    def read_config(self, document: Mapping[str, Any]) -> Any:
        """The configuration in a recording; equal to that of ``config_document``. Raises ``InvalidSetting``."""
        return build(self.Settings, document)

    @abstractmethod
    def make_server(
        self, config: Any, place: Place, chances: Chances, wall_offset_ns: int, *, is_simulated: bool = False
    ) -> Server:
        """A server at the start of its life. Live, the supervisor calls it directly before it forks the process.

        ``config`` is the result of ``config_of``. All randomness is from ``chances``. ``wall_offset_ns`` is Unix
        nanoseconds minus ``now``. ``is_simulated``: in virtual time, where a server may skip work whose time the
        service-time model has, such as a scan; what it sends is the same.
        """

    @abstractmethod
    def make_fleet(
        self,
        plans: Sequence[Plan],
        servers: Sequence[Address],
        setup: Setup,
        windows: Windows,
        *,
        wall_offset_ns: int,
        most_lanes: int,
    ) -> Fleet:
        """The clients of one process, from its ``plan_clients``. Live, the process itself calls it after its start.

        ``servers`` are the addresses of all servers, by index, and ``wall_offset_ns`` is Unix nanoseconds minus
        ``now``. ``most_lanes`` is how many ports each client may have.
        """

    def time_server(self, server: Any, clock: Callable[[], int]) -> None:
        """Live, before the server's first message: ``clock`` is the processor time of the thread that drives it, in
        ns, for systems that count it by message."""
        return

    # ---- assembly

    def make_assembly(self, setup: Setup) -> Assembly:
        """The orders of a new deployment, for the supervisor or the simulator; by default none."""
        return NoOrders(sum(role.count for role in self.roles(setup)))

    def introduction(self, setup: Setup) -> Introduction | None:
        """How servers in virtual time reach the state after all orders at once; ``None`` if they need the orders."""
        return None

    # ---- life and facts

    def hand_over(self, server: Any, now: int) -> None:
        """Begin to give its entries to other servers, because it will leave and the network goes on. By default they
        are lost with it."""
        return

    def entries_to_give(self, server: Any) -> tuple[int, int, int]:
        """Of a server that hands over: how many entries are still to be given, were taken by others, and are lost."""
        return 0, 0, 0

    def is_traced(self, config: Any) -> bool:
        """Whether servers of this configuration trace single requests. In networks, traces have a file of their own."""
        return False

    def untraced(self, config: Any) -> Any:
        """The configuration without tracing, for a server whose traces would not be read."""
        return config

    def facts(self, process: str, server: Any, zero_ns: int) -> Sequence[Fact]:
        """Facts of ``server`` since the last call, in addition to its events and counters: those of ``Server.traces``,
        and ``Row`` facts for ``Telemetry.tables``. Called in its process once a second and at its end, also for a
        server that is recorded. ``zero_ns`` is ``now`` at the zero of all ``at_us``."""
        return ()

    def closing_facts(self, process: str, held: Any, at_us: int) -> Sequence[Fact]:
        """Facts about a server at its end, such as ``Holdings``, in its process; not after a crash. ``held`` is the
        result of ``holdings`` before it left."""
        return ()

    def uncommitted_facts(self, record: Record, at_us: int) -> Sequence[Fact]:
        """Facts about a record of the log that some group had not committed at the end of a simulated run."""
        return ()

    def holdings(self, server: Any, now: int) -> Any:
        """The entries of the server before it leaves, for ``closing_facts``; ``now`` is monotonic, ns."""
        return None

    def group(self, config: Any, place: Place) -> Address | None:
        """The multicast group (IPv4) that a live server listens to as well, over the interface of its own address. In
        virtual time there is none."""
        return None

    @abstractmethod
    def ping(self, unix_ms: int) -> bytes:
        """A datagram that every server answers at once, to any sender. A network with servers that do not answer it is
        degraded."""

    @abstractmethod
    def answers_ping(self, data: bytes) -> bool:
        """Whether ``data``, any bytes, is an answer to ``ping``."""

    def statistics_request(self, unix_ms: int) -> bytes:
        """A datagram that requests a server's counters, for the pages of networks; empty if the system has none."""
        return b""

    def read_statistics(self, data: bytes) -> Mapping[str, int] | None:
        """The counters in an answer to ``statistics_request``, named as in ``Server.statistics``; ``None`` for any
        other bytes."""
        return None

    def rehearsal(self, address: Address, own: Address, unix_ms: int) -> Sequence[bytes]:
        """Datagrams, sent from ``own``, that make a server at ``address`` execute its usual code.

        The supervisor warms up a server in this way before it forks the first one, so that its children share more
        memory.
        """
        return ()

    def make_meter(self, actor: Any, role: str) -> Meter:
        """The meter of a server or client. It counts messages by the names, and work by the units, of ``role``'s costs
        (``overlay.core.service_times.Costs``)."""
        return Meter()

    # ---- topologies

    walk_policies: ClassVar[Mapping[str, WalkPolicy]] = {}
    """The walk policies of its requests, by name, the default first. Empty for systems without walks."""

    # ---- figures

    client_roles: ClassVar[Mapping[str, ClientRole]] = {}
    """Its kinds of clients, by the ``role`` of their facts. Figures of requests are those of roles that request."""
    cost_words: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """For each of ``costs``: its label and its format, such as ``hops``, ``{hops:.2f} per answer``."""
    measure_names: ClassVar[tuple[str, ...]] = ()
    """The keys of ``Telemetry.measures`` (``Measure.declared``, with the unit: ``age_ms``), for commands that do not
    load the telemetry."""

    ticks_from_measuring: ClassVar[bool] = False
    """Whether simulated ticks are at whole seconds from the start of measuring, for exact figures per second."""

    @abstractmethod
    def expected(self, configuration: Mapping[str, Any]) -> Expected:
        """Estimated quantities of a run of ``configuration``, which is complete and checked. Pages show the duration,
        memory and disk space that follow from them before a launch."""

    def warnings(self, configurations: Sequence[Mapping[str, Any]], seed: int) -> Sequence[str]:
        """Warnings about these configurations before a launch, as sentences; empty ones are omitted. ``seed`` is that
        of the first replicate."""
        return ()

    def remark(self, summary: Mapping[str, Any]) -> str:
        """A remark on a completed run for its page and REST, from ``telemetry.summary``; empty: none."""
        return ""

    def is_server(self, process: str) -> bool:
        """Whether a journal's process is one of its servers, or the sum of all."""
        return process == ALL_BROKERS or role_of(process) in self.role_names

    @property
    def asking_roles(self) -> tuple[str, ...]:
        """The roles of clients whose exchanges are requests."""
        return tuple(name for name, role in self.client_roles.items() if role.exchanges == REQUESTS)

    @property
    def updating_roles(self) -> tuple[str, ...]:
        """The roles of clients whose exchanges update data."""
        return tuple(name for name, role in self.client_roles.items() if role.exchanges == UPDATES)

    @property
    def has_receivers(self) -> bool:
        """Whether some of its clients only receive, so that their start is no request."""
        return not all(role.exchanges for role in self.client_roles.values())

    def client_role(self, process: str) -> str:
        """The role of the clients in a process; empty for another kind of process."""
        kind = role_of(process)
        return next((name for name, role in self.client_roles.items() if role.processes == kind), "")

    def asks(self, process: str) -> bool:
        """Whether a process contains clients that request."""
        return self.client_role(process) in self.asking_roles

    def costs(self, counters: Mapping[str, int], asked: int) -> Mapping[str, float | None]:
        """The means of ``cost_words`` by name, from the growth of the counters of all servers in measuring (for
        ``simulate``, in the run) and the number of requests in it; ``None`` without counts."""
        return {}

    def measures(self, facts: Iterable[Fact]) -> Mapping[str, float | None]:
        """Values of ``measure_names`` from the facts of a run, for ``python -m overlay simulate --json``.

        Without it, ``costs`` and what every system has are all that the command knows.
        """
        return {}

    # ---- code

    @property
    def code(self) -> tuple[Path, ...]:
        """The folders and files with the code that determines the output of servers, such as its own folder and that
        of a channel that it shares with another system."""
        return (Path(str(sys.modules[type(self).__module__].__file__)).parent,)
