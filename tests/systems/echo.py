"""The smallest system: servers that say back what they hear, and clients that count how long that takes.

Nothing outside the tests knows of it. It has what the contract asks for and nothing else, so that whatever common code
takes for granted of seed 000 shows here.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from overlay.core.chance import Stream, derive_seed
from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.settings import check, setting
from overlay.journal.facts import Delivery, Sample
from overlay.load.expectations import Expected
from overlay.load.tally import Tally
from overlay.systems.contract import System
from overlay.systems.roles import REQUESTS, ClientRole, Role

GIVE_UP = SECOND


@dataclass(frozen=True, slots=True)
class Settings:
    echoes: int = setting(1, low=1, high=9, help="How often the server says back what it hears.")

    def __post_init__(self):
        check(self)


@dataclass(frozen=True, slots=True)
class Workload:
    callers: int = setting(3, low=1, high=1000, help="Clients that call.")
    interval_ms: float = setting(100.0, unit="ms", low=1, high=60_000, help="Between two calls of a client.")
    holders: float = setting(0.5, unit="share", low=0, high=1, help="Means something else than a word of seed 000.")
    duration_s: float = setting(2.0, unit="s", low=1, high=3600, help="How long is measured.")

    def __post_init__(self):
        check(self)

    def ramp_s(self):
        return 0.1


class Server:
    """Says each datagram back ``echoes`` times; a ping (``?``) once."""

    def __init__(self, settings, address):
        self.address = address
        self._echoes = settings.echoes
        self._outgoing = []
        self._counters = {"heard": 0, "said": 0}

    def knows(self, address):
        return True

    def receive_datagrams(self, datagrams, now):
        for data, source in datagrams:
            self._counters["heard"] += 1
            self._outgoing += [(data, source)] * (1 if data == b"?" else self._echoes)

    def datagrams_to_send(self):
        outgoing, self._outgoing = self._outgoing, []
        self._counters["said"] += len(outgoing)
        return outgoing

    def handle_timer(self, now): ...
    def next_timer(self): ...
    def events(self):
        return []

    def set_wall_clock(self, offset_ns): ...
    def traces(self):
        return []

    def statistics(self, now):
        return dict(self._counters)

    def leave(self, now):
        return 0

    def check_invariants(self):
        assert self._counters["said"] <= 9 * self._counters["heard"]


class Caller:
    """Calls at each interval, and takes the first echo for its answer. It hears whoever speaks to it."""

    peer = None

    def __init__(self, plan, servers, workload, windows, tally, seed):
        self._number, self._called = plan
        self.identity = ("caller", self._number)
        self._server, self._windows, self._tally = servers[self._called], windows, tally
        self._interval = round(workload.interval_ms * MILLISECOND)
        chance = Stream(derive_seed(seed, "caller", self._number))
        self._next = windows.start + round(chance.random() * 50 * MILLISECOND)
        self._open, self._outgoing, self._facts = deque(), [], []
        self._heard = Counter()

    @property
    def is_finished(self):
        return not self._open and self._next >= self._windows.end

    def handle_timer(self, now):
        while self._open and now >= self._open[0] + GIVE_UP:
            self._end(self._open.popleft(), "timed_out", now)
        while self._next <= now and self._next < self._windows.end:
            self._tally.started(now - self._next)
            self._outgoing.append((0, b"%d" % self._next, self._server))
            self._open.append(self._next)
            self._next += self._interval

    def next_timer(self):
        timers = [self._next] if self._next < self._windows.end else []
        return min([*timers, *(at + GIVE_UP for at in list(self._open)[:1])], default=None)

    def receive_datagram(self, lane, data, source, now):
        if not data.isdigit():
            return False
        call = int(data)
        self._heard[call] += 1
        self._deliver(call, self._heard[call], now)
        if call in self._open:
            self._open.remove(call)
            self._end(call, "answered", now)
        return True

    def datagrams_to_send(self):
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def lanes_to_close(self):
        return ()

    def facts(self):
        facts, self._facts = self._facts, []
        return facts

    def abandon(self, now):
        while self._open:
            self._end(self._open.popleft(), "timed_out", now)

    def _phase(self, intended):
        return "warming" if intended < self._windows.measuring else "measuring"

    def _deliver(self, call, copy, now):
        name, zero = f"{self._number}-{call}", self._windows.zero
        at_us = [(at - zero) // 1000 for at in (call, now)]
        self._facts.append(Delivery("caller", self._number, self._called, self._phase(call), name, *at_us, copy))

    def _end(self, intended, outcome, now):
        self._tally.ended(outcome, 1)
        phase = self._phase(intended)
        at_us = [(at - self._windows.zero) // 1000 for at in (intended, intended, now)]
        self._facts.append(Sample("caller", self._number, self._called, phase, outcome, 0, 1, *at_us, "call", 0))


@dataclass
class Fleet:
    clients: list
    tally: Tally

    def set_wall_clock(self, offset_ns): ...


class Echo(System):
    name, title, seed, summary = "echo", "Echo", "T00", "Servers say back what callers say."
    role_names, client_roles = ("echo",), {"caller": ClientRole("callers", REQUESTS)}
    gauges = frozenset({"kept"})
    client_fields, measure_names = ("callers",), ("repeated",)
    telemetry = "tests.systems.echo_telemetry:EchoTelemetry"
    programs, web_app = "tests.systems.echo_programs:COMMANDS", "tests.systems.echo_web"
    Settings, Workload = Settings, Workload

    def roles(self, setup):
        return (Role("echo", setup.graph.brokers),)

    def plan_clients(self, setup):
        workload, graph = setup.workload, setup.graph
        if workload.callers < graph.brokers:
            raise InvalidSetting("callers", f"{workload.callers} cannot call {graph.brokers} servers")
        return {"callers-0": [(number, number % graph.brokers) for number in range(workload.callers)]}

    def make_server(self, config, place, chances, wall_offset_ns, *, is_simulated=False):
        return Server(config, place.address)

    def make_fleet(self, plans, servers, setup, windows, *, wall_offset_ns, most_lanes):
        tally = Tally()
        return Fleet([Caller(plan, servers, setup.workload, windows, tally, setup.seed) for plan in plans], tally)

    def expected(self, configuration):
        workload = Workload(**configuration["workload"])
        seconds, servers = workload.duration_s + workload.ramp_s(), configuration["topology"]["brokers"]
        calls = workload.callers * seconds * 1000 / workload.interval_ms
        return Expected(
            servers=servers,
            clients={"callers": workload.callers},
            processes=servers + 1,
            seconds=seconds,
            exchanges=calls,
            samples=calls,
            records=3 * calls,
        )

    def measures(self, facts):
        copies = [fact.copy for fact in facts if isinstance(fact, Delivery) and fact.phase == "measuring"]
        return {"repeated": sum(copy > 1 for copy in copies)}

    def ping(self, unix_ms):
        return b"?"

    def answers_ping(self, data):
        return data == b"?"


SYSTEM = Echo()
