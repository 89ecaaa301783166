"""What a system is to everybody else: the drivers, plans, load, lake and pages know a system by this and nothing more.

A system is what one seed describes: what can be set, which processes it takes, what its servers and clients are, and
how started servers become a working overlay. ``registry`` lists the systems that there are; each has a folder of its
own here. Everything is pure: time and chance are handed in.

::

    settings ─ config_of ──> make_server ──> Server   one for each of ``roles``, driven live and simulated alike
    workload ─ plan_clients ─> make_fleet ──> Client, Client, ...   those of one process
    graph ──── make_assembly ─> Order ──> Order ...   from started servers to a working overlay
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.engines import ENGINES
from overlay.core.errors import InvalidSetting
from overlay.core.node import Node
from overlay.core.service_times import Work
from overlay.core.settings import SettingInfo, Value, build, describe
from overlay.journal.facts import ALL_BROKERS

if TYPE_CHECKING:  # a broker in a process of its own would carry them
    from overlay.core.settings import Use
    from overlay.faults.churn import Change
    from overlay.journal.facts import ClientFact, Fact
    from overlay.load.expectations import Expected
    from overlay.load.tally import Tally
    from overlay.load.windows import Windows
    from overlay.topologies import Graph
    from overlay.topologies.walks import WalkEstimate

ORDERS_AT_ONCE = 64
"""Orders that a controller has under way at a time."""
PROFILE = "profile"
"""The setting that names a set of others, in systems that have one."""
UNKNOWN = -1
"""The code of a datagram of which the service-time model knows nothing."""

Plan = Any
"""One client of a workload, as its system plans it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the seed that experiments with the system reproduce."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of server, and how many of it there are; their processes are ``name-0``, ``name-1`` and so on."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Place:
    """Which server is to be made, and where all of them are."""

    index: int
    """Among all servers, role after role."""
    address: Address
    """What others know it by."""
    servers: Sequence[Address]
    """The addresses of all servers, its own included."""


class Server(Node, Protocol):
    """A node that stays: a broker, a gateway, a registry. A driver may put a recorder in its place."""

    @property
    def address(self) -> Address: ...
    @property
    def knows(self) -> Callable[[Address], bool]:
        """Whose datagrams go before those of strangers, when more come than it can serve."""
        ...

    def set_wall_clock(self, offset_ns: int) -> None:
        """Unix nanoseconds minus ``now``."""
        ...

    def statistics(self, now: int) -> dict[str, int]:
        """Its counters, for a tick."""
        ...

    def traces(self) -> Sequence[Any]:
        """What it noted of single requests since the last call; ``System.facts`` makes facts of it."""
        ...

    def leave(self, now: int) -> None:
        """Begin to say farewell."""
        ...


class Client(Protocol):
    """A client of a workload, with ports (*lanes*) of its own; a driver gives each lane a socket."""

    @property
    def peer(self) -> Address | None:
        """The one server it hears, so that its sockets may be connected; ``None`` if it hears from anybody."""
        ...

    @property
    def identity(self) -> tuple[str | int, ...]:
        """What tells it from every other client of the run."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether all that was intended has been sent and has ended."""
        ...

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        """Whether it led to anything to drain, or to an earlier timer."""
        ...

    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...
    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        """``(lane, datagram, destination)``."""
        ...

    def lanes_to_close(self) -> Sequence[int]: ...
    def facts(self) -> Sequence[ClientFact]:
        """What ended or arrived since the last call: samples of its exchanges, deliveries, connections, hand-overs."""
        ...

    def abandon(self, now: int) -> None:
        """The run is over: whatever is open has timed out."""
        ...


class Fleet(Protocol):
    """The clients that share a process."""

    @property
    def clients(self) -> Sequence[Client]: ...
    @property
    def tally(self) -> Tally: ...
    @property
    def give_up_s(self) -> float:
        """For how long after the end of measuring an answer may be waited for, seconds."""
        ...

    def set_wall_clock(self, offset_ns: int) -> None: ...


class Exchange(Node, Protocol):
    """An order under way, at an address of its own that is used once."""

    @property
    def broker(self) -> Address:
        """Whom it asks."""
        ...

    @property
    def is_over(self) -> bool: ...


class Order(Protocol):
    """One command to one server."""


class Assembly(Protocol):
    """The orders that turn started servers into a working overlay. ``up`` is each server's incarnation, by index."""

    trouble: str
    """What keeps it from being complete, in words; empty while nothing does for good."""

    def due(self, up: Mapping[int, int], now: int, room: int) -> Sequence[Any]:
        """The orders to give now, at most ``room``; each is to be begun, and settled once its exchange is over."""
        ...

    def begin(self, order: Any, servers: Sequence[Address], now: int, wall_offset_ns: int) -> Exchange: ...
    def settle(self, order: Any, exchange: Any, now: int) -> None: ...
    def is_complete(self, up: Mapping[int, int]) -> bool:
        """Whether every server is up and nothing is left to order."""
        ...

    def next_retry(self, now: int) -> int | None:
        """When an order is due that waits; ``None`` when none does."""
        ...

    def assume(self, up: Mapping[int, int]) -> None:
        """Whatever was to be ordered of these incarnations has been carried out, by other means."""
        ...


class NoOrders:
    """The assembly of servers that need none: complete once all are up."""

    def __init__(self, servers: int) -> None:
        self._servers = servers
        self.trouble = ""

    def due(self, up: Mapping[int, int], now: int, room: int) -> Sequence[Any]:
        return ()

    def begin(self, order: Any, servers: Sequence[Address], now: int, wall_offset_ns: int) -> Exchange:
        raise AssertionError("no order was ever given")

    def settle(self, order: Any, exchange: Any, now: int) -> None:
        raise AssertionError("no order was ever given")

    def is_complete(self, up: Mapping[int, int]) -> bool:
        return len(up) == self._servers

    def next_retry(self, now: int) -> int | None:
        return None

    def assume(self, up: Mapping[int, int]) -> None:
        pass


class Meter:
    """Counts the work of one server for the service-time model; here of messages whose cost nobody has measured."""

    def work(self, received: Sequence[bytes], sent: Sequence[bytes]) -> Work:
        """Of the datagrams that it received and sent since the last call."""
        moved = sum(map(len, received)) + sum(map(len, sent))
        return Work([UNKNOWN] * len(received), [UNKNOWN] * len(sent), moved)


class System(ABC):
    """One system. A subclass says who it is in class attributes, and how it is made in methods."""

    name: ClassVar[str]
    """As documents name it: lower case, words joined by hyphens."""
    title: ClassVar[str]
    seed: ClassVar[str]
    """Number of the document that describes it."""
    summary: ClassVar[str]
    role_names: ClassVar[tuple[str, ...]]
    """What its kinds of servers are called."""
    engines: ClassVar[tuple[str, ...]] = tuple(ENGINES)
    figures: ClassVar[tuple[Figure, ...]] = ()
    network_profile: ClassVar[str] = ""
    """The profile of a network that stays, unless told otherwise; empty: its default."""
    network_profile_help: ClassVar[str] = ""
    first_workload: ClassVar[Mapping[str, Any]] = {}
    """What a new experiment's form begins with that is not a default."""
    client_fields: ClassVar[tuple[str, ...]] = ()
    """Fields of the workload that say how many clients of each kind there are: ``providers``."""
    has_traces: ClassVar[bool] = False
    """Whether single requests can be looked at, step by step."""
    has_messages: ClassVar[bool] = False
    """Whether the messages of a recorded run can be looked at, one by one."""
    main_workload: ClassVar[tuple[str, ...]] = ()
    """Fields of the workload that a form shows at once, the rest folded away; empty shows all."""
    profiles: ClassVar[Mapping[str, Mapping[str, Value]]] = {}
    """What each choice of the setting ``profile`` sets; the rest has its default."""
    Settings: ClassVar[type]
    """A dataclass of settings, made with ``overlay.core.settings.setting``."""
    Workload: ClassVar[type]
    """Another, with what ``overlay.load.windows.Timed`` asks for."""

    telemetry: ClassVar[str] = ""
    """``MODULE:CLASS`` of what telemetry adds for a system from another package; empty: nothing."""

    # ---- choices

    @property
    def settings(self) -> tuple[SettingInfo, ...]:
        return tuple(describe(self.Settings))

    @property
    def workload(self) -> tuple[SettingInfo, ...]:
        return tuple(describe(self.Workload))

    def uses(self) -> Mapping[str, Use]:
        """By name, the settings that are used only where another one, or the engine, says so."""
        return {}

    def of_profile(self, settings: Mapping[str, Any]) -> Mapping[str, Value]:
        """What the profile named in ``settings`` sets; nothing for one that there is not, which a check refuses."""
        name = settings.get(PROFILE)
        return self.profiles.get(name, {}) if isinstance(name, str) else {}

    def whole(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Every setting: as given, with words for numbers read as the numbers, else its profile's, else its default."""
        chosen = {**self.of_profile(settings), **settings}
        return {**settings, **{info.name: info.read(chosen.get(info.name, info.default)) for info in self.settings}}

    def read_settings(self, values: Mapping[str, Any]) -> Any:
        """The settings that a document gives. Raises ``InvalidSetting``."""
        return build(self.Settings, values)

    def settings_document(self, settings: Any) -> dict[str, Any]:
        """The document again; ``read_settings`` of it is equal."""
        return asdict(settings)

    def read_workload(self, values: Mapping[str, Any]) -> Any:
        """Raises ``InvalidSetting``."""
        return build(self.Workload, values)

    def workload_document(self, workload: Any) -> dict[str, Any]:
        """The document again; ``read_workload`` of it is equal."""
        return asdict(workload)

    def check(
        self,
        settings: Mapping[str, Any],
        workload: Mapping[str, Any] | None,
        brokers: int,
        positions: Sequence[Any] | None = None,
    ) -> None:
        """Say before a launch what would fail in it. Raises ``InvalidSetting``.

        ``workload`` is ``None`` for a network; ``positions`` is where each broker is drawn, where that is known.
        """
        self.read_settings(settings)
        if brokers < 1:
            raise InvalidSetting("brokers", f"must be at least 1, not {brokers}")
        if workload is not None:
            from overlay.topologies import Graph

            places = tuple(tuple(place) for place in positions) if positions is not None else None
            self.check_clients(self.read_workload(workload), Graph(brokers, (), places))

    # ---- plan

    @abstractmethod
    def roles(self, graph: Graph) -> Sequence[Role]:
        """Its servers. The nodes of ``graph`` come first, in their order."""

    @abstractmethod
    def plan_clients(self, workload: Any, graph: Graph, seed: int) -> Mapping[str, Sequence[Plan]]:
        """All clients by the process that they share. Equal arguments give equal plans. Raises ``InvalidSetting``."""

    def check_clients(self, workload: Any, graph: Graph) -> None:
        """Raise what ``plan_clients`` would, faster where that can be had."""
        self.plan_clients(workload, graph, 0)

    def churn(self, workload: Any, graph: Graph, seed: int) -> tuple[Change, ...]:
        """Which servers go and come while it measures, in the order of time. Raises ``InvalidSetting``."""
        return ()

    # ---- cores

    def config_of(self, settings: Any, graph: Graph) -> Any:
        """What each server is made of beside its place."""
        return settings

    def config_document(self, config: Any) -> dict[str, Any]:
        """The same as plain values, for a recording."""
        return asdict(config)

    def read_config(self, document: Mapping[str, Any]) -> Any:
        """Raises ``InvalidSetting``."""
        return build(self.Settings, document)

    @abstractmethod
    def make_server(
        self, config: Any, place: Place, chances: Chances, wall_offset_ns: int, *, is_simulated: bool = False
    ) -> Server:
        """At the beginning of its life."""

    @abstractmethod
    def make_fleet(
        self,
        plans: Sequence[Plan],
        servers: Sequence[Address],
        workload: Any,
        windows: Windows,
        *,
        seed: int,
        wall_offset_ns: int,
        most_lanes: int,
    ) -> Fleet:
        """The clients of one process. ``most_lanes`` is how many ports each may have."""

    # ---- assembly

    def make_assembly(self, settings: Any, graph: Graph) -> Assembly:
        return NoOrders(sum(role.count for role in self.roles(graph)))

    def can_introduce(self, settings: Any) -> bool:
        """Whether servers can be given their neighbours at once, without orders, in virtual time."""
        return False

    def introduce(
        self, settings: Any, server: Any, neighbours: Iterable[Address], controller: Address, now: int
    ) -> None:
        """Let ``server`` be as if all orders had been carried out; only where ``can_introduce``."""
        raise NotImplementedError(f"{self.name} cannot introduce its servers to each other")

    def settling_ns(self, settings: Any) -> int:
        """How long introduced servers are left alone before the load starts."""
        return 0

    # ---- life and facts

    def leave(self, server: Any, now: int) -> int:
        """Let ``server`` say farewell; for how many nanoseconds it is still driven."""
        server.leave(now)
        return 0

    def is_traced(self, config: Any) -> bool:
        """Whether servers note single requests."""
        return False

    def untraced(self, config: Any) -> Any:
        """The same without."""
        return config

    def facts(self, process: str, server: Any, zero_ns: int) -> Sequence[Fact]:
        """What ``server`` noted since the last call, beside its events and counters."""
        return ()

    def closing_facts(self, process: str, held: Any, at_us: int) -> Sequence[Fact]:
        """What is told of a server at its end; ``held`` is what ``holdings`` said before its farewell."""
        return ()

    def holdings(self, server: Any, now: int) -> Any:
        """What it holds, for ``closing_facts``."""
        return None

    @abstractmethod
    def ping(self, unix_ms: int) -> bytes:
        """A datagram that every server answers at once."""

    @abstractmethod
    def answers_ping(self, data: bytes) -> bool:
        """Whether ``data`` is such an answer. Takes any bytes."""

    def statistics_request(self, unix_ms: int) -> bytes:
        """A datagram that asks a server for its counters; empty where they cannot be asked for."""
        return b""

    def read_statistics(self, data: bytes) -> Mapping[str, int] | None:
        """The counters in an answer to ``statistics_request``; ``None`` of any other bytes."""
        return None

    def rehearsal(self, address: Address, own: Address, unix_ms: int) -> Sequence[bytes]:
        """Datagrams after which a server at ``address`` has done all that one usually does, sent from ``own``.

        The supervisor has a server live so before it forks the first one, so that its children share more memory.
        """
        return ()

    def make_meter(self, server: Any) -> Meter:
        return Meter()

    # ---- topologies

    walk_policies: ClassVar[Mapping[str, str]] = {}
    """Ways in which its requests may walk over a topology, by name, in the words of a form (*a walk that …*); the
    default first. Empty where they do not walk."""

    def estimate_walk(self, graph: Graph, policy: str) -> WalkEstimate:
        """How far a walk goes on a checked ``graph``. Raises ``InvalidSetting`` for a policy there is not."""
        raise NotImplementedError(f"requests of {self.name} do not walk")

    # ---- figures

    asking_role: ClassVar[str] = "consumer"
    """The clients whose exchanges are what a run's requests are."""
    cost_words: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Of each of ``costs`` what a person calls it, and how it is written: ``hops``, ``{hops:.2f} per answer``."""
    measure_names: ClassVar[tuple[str, ...]] = ()
    """What its runs alone are measured by, by the names that ``telemetry`` declares."""

    updating_role: ClassVar[str] = ""
    """The clients whose exchanges change what servers hold; empty where there are none."""

    @abstractmethod
    def expected(self, configuration: Mapping[str, Any]) -> Expected:
        """How much of everything a run of ``configuration`` has, about."""

    def warnings(self, configurations: Sequence[Mapping[str, Any]], seed: int) -> Sequence[str]:
        """What to know of these configurations before they are launched, in sentences; empty ones are left out."""
        return ()

    def remark(self, summary: Mapping[str, Any]) -> str:
        """The same of a run that has ended."""
        return ""

    def is_server(self, process: str) -> bool:
        """Whether a journal's process is one of its servers, or the sum of all."""
        return process == ALL_BROKERS or process.rpartition("-")[0] in self.role_names

    def asks(self, process: str) -> bool:
        """Whether clients of ``asking_role`` are in it."""
        return process.startswith(f"{self.asking_role}s-")

    def costs(self, counters: Mapping[str, int], asked: int) -> Mapping[str, float | None]:
        """Means by name, from the counters of all servers and the number of requests; ``None``: nothing was counted."""
        return {}

    # ---- code

    @property
    def code(self) -> Path:
        """The folder with the code that makes a server say what it says."""
        return Path(str(sys.modules[type(self).__module__].__file__)).parent


def server_names(roles: Iterable[Role]) -> tuple[str, ...]:
    """The names of all servers' processes, by index."""
    return tuple(f"{role.name}-{number}" for role in roles for number in range(role.count))
