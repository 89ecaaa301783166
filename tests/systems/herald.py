"""A toy system that only pushes: a herald publishes news, relays pass it on, and listeners answer nothing.

It has what the echo lacks: no request, two roles of which one depends on a setting, servers that need the workload,
clients that need the settings, and no topology to choose.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from overlay.core.node import SECOND
from overlay.core.settings import check, setting
from overlay.journal.facts import Delivery
from overlay.load.expectations import Expected
from overlay.load.tally import Tally
from overlay.load.windows import Schedule
from overlay.systems.contract import System
from overlay.systems.roles import ClientRole, Role
from overlay.topologies import Graph

SUBSCRIBE, PING = b"subscribe", b"?"


@dataclass(frozen=True, slots=True)
class Settings:
    relays: int = setting(2, low=1, high=9, help="Relays between the herald and the listeners.")
    copies: int = setting(1, low=1, high=3, help="How often a relay sends each piece of news.")

    def __post_init__(self):
        check(self)


@dataclass(frozen=True, slots=True)
class Workload:
    listeners: int = setting(4, low=1, high=1000, help="Clients that listen.")
    news_per_s: float = setting(10.0, unit="1/s", low=0.1, high=1000, help="How often the herald publishes.")
    seconds: float = setting(2.0, unit="s", low=1, high=3600, help="How long is measured.")

    def __post_init__(self):
        check(self)


class Server:
    """A herald publishes ``news_per_s``; a relay subscribes to it, and sends to whoever subscribed to the relay."""

    def __init__(self, config, place):
        self.address, self._place = place.address, place
        self._copies, self._interval = config["copies"], round(SECOND / (config["news_per_s"] or 1))
        self._publishes = place.role == "herald" and config["news_per_s"] > 0
        self._subscribers, self._outgoing, self._number = [], [], 0
        self._next = None if place.role == "herald" else 0
        self._counters = {"subscribers": 0, "published": 0, "pushed": 0}

    def knows(self, address):
        return True

    def receive_datagrams(self, datagrams, now):
        for data, source in datagrams:
            if data == PING:
                self._outgoing.append((PING, source))
            elif data == SUBSCRIBE and source not in self._subscribers:
                self._subscribers.append(source)
                if self._publishes and self._next is None:
                    self._next = now + self._interval
            elif data != SUBSCRIBE and self._place.role == "relay":
                self._push(data, self._copies)
        self._counters["subscribers"] = len(self._subscribers)

    def _push(self, data, copies):
        self._outgoing += [(data, to) for to in self._subscribers for _ in range(copies)]
        self._counters["pushed"] += copies * len(self._subscribers)

    def handle_timer(self, now):
        if self._next is None or now < self._next:
            return
        if self._place.role == "relay":
            self._outgoing.append((SUBSCRIBE, self._place.servers[0]))
            self._next = now + SECOND  # the herald may not have been up, or may have been restarted
            return
        self._push(b"%d|%d" % (self._number, now), 1)
        self._number += 1
        self._counters["published"] += 1
        self._next += self._interval

    def next_timer(self):
        return self._next

    def datagrams_to_send(self):
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

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
        assert self._counters["pushed"] >= self._counters["published"] * (self._place.role == "herald")


class Listener:
    """Subscribes to its relay, and receives until the end of measuring."""

    def __init__(self, plan, servers, setup, windows):
        self._number = plan
        self._server = 1 + plan % setup.settings.relays
        self.peer, self.identity = servers[self._server], ("listener", plan)
        self._windows, self._heard, self._facts, self._outgoing = windows, Counter(), [], []
        self._next = windows.start

    is_finished = False

    def handle_timer(self, now):
        if self._next is not None and now >= self._next:
            self._outgoing.append((0, SUBSCRIBE, self.peer))
            self._next = None

    def next_timer(self):
        return self._next

    def receive_datagram(self, lane, data, source, now):
        name, _, published = data.partition(b"|")
        self._heard[name] += 1
        zero, at = self._windows.zero, int(published)
        phase = "warming" if at < self._windows.measuring else "measuring"
        if at < self._windows.end:
            times = ((at - zero) // 1000, (now - zero) // 1000)
            news = name.decode()
            self._facts.append(Delivery("listener", self._number, self._server, phase, news, *times, self._heard[name]))
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
        self.is_finished = True


@dataclass
class Fleet:
    clients: list
    tally: Tally

    def set_wall_clock(self, offset_ns): ...


class Herald(System):
    name, title, seed, summary = "herald", "Herald", "T01", "A herald publishes news, which relays push to listeners."
    role_names = ("herald", "relay")
    telemetry = "tests.systems.herald_telemetry:HeraldTelemetry"
    client_roles = {"listener": ClientRole("listeners")}
    gauges = frozenset({"subscribers"})
    client_fields = ("listeners",)
    Settings, Workload = Settings, Workload

    def default_topology(self, settings, workload):
        return Graph(1, ())

    def roles(self, setup):
        return (Role("herald", 1), Role("relay", setup.settings.relays))

    def config_of(self, setup):
        rate = setup.workload.news_per_s if setup.workload else 0.0
        return {"copies": setup.settings.copies, "news_per_s": rate}

    def config_document(self, config):
        return dict(config)

    def read_config(self, document):
        return dict(document)

    def schedule(self, setup):
        return Schedule(0.2, setup.workload.seconds, drain_s=0.5)

    def plan_clients(self, setup):
        return {"listeners-0": list(range(setup.workload.listeners))}

    def make_server(self, config, place, chances, wall_offset_ns, *, is_simulated=False):
        return Server(config, place)

    def make_fleet(self, plans, servers, setup, windows, *, wall_offset_ns, most_lanes):
        return Fleet([Listener(plan, servers, setup, windows) for plan in plans], Tally())

    def expected(self, configuration):
        relays, listeners = configuration["settings"]["relays"], configuration["workload"]["listeners"]
        return Expected(
            servers=1 + relays,
            clients={"listeners": listeners},
            processes=2 + relays,
            seconds=configuration["workload"]["seconds"],
            exchanges=0,
            samples=0,
        )

    def ping(self, unix_ms):
        return PING

    def answers_ping(self, data):
        return data == PING


SYSTEM = Herald()
