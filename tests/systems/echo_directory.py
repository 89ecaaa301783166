"""The toy system with a second kind of server: a directory, to which servers report and no client talks.

It has faults of its own, of servers and of clients, and clients whose datagrams can be slow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from overlay.core.addresses import parse_address
from overlay.core.engines import SIMULATED
from overlay.core.links import LinkShape
from overlay.core.node import MILLISECOND, NodeEvent
from overlay.core.settings import ENGINE, Use, check, setting
from overlay.faults.kinds import FaultKind
from overlay.load.tally import Tally
from overlay.systems.roles import Role, Title
from tests.systems.echo import Caller, Echo, Fleet, Server, Workload

REPORT = 200 * MILLISECOND
LATE = 100 * MILLISECOND


@dataclass(frozen=True, slots=True)
class DeafFields:
    every: int = setting(1, low=1, high=9, help="Of so many datagrams, one is not heard.")

    def __post_init__(self):
        check(self)


@dataclass(frozen=True, slots=True)
class FarWorkload(Workload):
    access_ms: float = setting(0.0, unit="ms", low=0, high=1000, help="Delay between a client and a server.")


@dataclass(frozen=True, slots=True)
class Deafened(NodeEvent):
    every: int


class Reporter(Server):
    """Reports to the directory, counts its answers, and is deaf in a fault."""

    def __init__(self, settings, place):
        super().__init__(settings, place.address)
        self._counters |= {"reports": 0, "answers": 0, "late": 0, "faults": 0}
        self._directory = place.servers[-1] if place.role == "echo" else None
        self._next = self._reported = None if self._directory is None else 0
        self._every = self._heard = 0
        self._events = []

    def fault(self, document, begins, now):
        if document["what"] == "rebound":
            self.address = parse_address(document["address"])
            return
        self._counters["faults"] += 1
        self._every = document["every"] if begins else 0
        self._events.append(Deafened(self._every))
        self._outgoing.append((b"deaf %d" % self._every, self.address))  # so that a replay shows it

    def events(self):
        events, self._events = self._events, []
        return events

    def receive_datagrams(self, datagrams, now):
        for data, source in datagrams:
            self._heard += 1
            if self._every and self._heard % self._every == 0:
                continue
            if source == self._directory:
                self._counters["answers"] += 1
                self._counters["late"] += now > self._reported + LATE
            elif source != self.address:
                super().receive_datagrams(((data, source),), now)

    def next_timer(self):
        return self._next

    def handle_timer(self, now):
        self._outgoing.append((b"?", self._directory))
        self._counters["reports"] += 1
        self._reported, self._next = now, now + REPORT


class Wanderer(Caller):
    """Can be silent, and can change its port."""

    def __init__(self, *args):
        super().__init__(*args)
        self._lane, self._closing, self._is_silent = 0, [], False

    def fault(self, document, begins, now):
        if document["what"] == "silent":
            self._is_silent = begins
        else:
            self._closing.append(self._lane)
            self._lane += 1

    def datagrams_to_send(self):
        outgoing = [(self._lane, data, to) for _, data, to in super().datagrams_to_send()]
        return [] if self._is_silent else outgoing

    def lanes_to_close(self):
        closing, self._closing = self._closing, []
        return closing


class EchoWithDirectory(Echo):
    name, title = "echo-directory", "Echo with a directory"
    role_names = ("echo", "directory")
    programs, web_app = "", ""
    role_titles = {"echo": Title("Echo server", "Echo servers"), "directory": Title("Directory", "Directories")}
    Workload = FarWorkload
    faults = {
        "deaf": FaultKind("Deaf", servers=("echo", "directory"), Fields=DeafFields),
        "rebound": FaultKind("Another port", servers=("echo",), lasts=False, moves=True),
        "silent": FaultKind("Silent", clients=("caller",)),
        "moved": FaultKind("Moved to another port", clients=("caller",), lasts=False),
    }

    def uses(self):
        return {"access_ms": Use(ENGINE, (SIMULATED,))}

    def roles(self, setup):
        return (*super().roles(setup), Role("directory", 1))

    def identity(self, plan):
        return ("caller", plan[0])

    def client_shape(self, setup, client, other):
        return LinkShape(delay_ms=setup.workload.access_ms)

    def make_server(self, config, place, chances, wall_offset_ns, *, is_simulated=False):
        return Reporter(config, place)

    def make_fleet(self, plans, servers, setup, windows, *, wall_offset_ns, most_lanes):
        tally = Tally()
        return Fleet([Wanderer(plan, servers, setup.workload, windows, tally, setup.seed) for plan in plans], tally)

    def expected(self, configuration):
        workload = {name: value for name, value in configuration["workload"].items() if name != "access_ms"}
        found = super().expected({**configuration, "workload": workload})
        return replace(found, servers=found.servers + 1, processes=found.processes + 1)


SYSTEM = EchoWithDirectory()
