"""The toy system with a log: callers append what they say, servers of one group read it and append their answers."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting
from overlay.faults.of_log import log_faults
from overlay.load.tally import Tally
from overlay.log.node import Subscription
from overlay.log.progress import Progress
from overlay.log.spec import ENGINES, LogSpec
from overlay.log.topics import Append, Topic
from overlay.systems.metering import ServerMeter
from tests.systems.echo import Caller, Echo, Fleet, Server
from tests.systems.echo import Settings as EchoSettings

WORDS = "words"


@dataclass(frozen=True, slots=True)
class LoggedSettings:
    partitions: int = setting(3, low=1, high=9, help="Partitions of what callers say.")
    member_timeout_s: float = setting(1.0, unit="s", low=0.1, high=60, help="When a silent server is taken to be dead.")
    engine: str = setting("valkey", choices=ENGINES, help="The engine of the log.")

    def __post_init__(self):
        check(self)


class WithLog:
    """What servers and clients do with the log."""

    def _begin(self, *subscriptions):
        self._subscriptions, self._appends = subscriptions, []
        self._progress = Progress()

    def subscriptions(self):
        return self._subscriptions

    def room(self, subscription):
        return 100

    def assigned(self, partitions, now):
        self._progress.assigned(partitions)

    def revoked(self, partitions, now):
        self._progress.revoked(partitions)

    def appended(self, tokens, now):
        for record in tokens:
            self._progress.settle(record.topic, record.partition, record.position)

    def records_to_append(self):
        appends, self._appends = self._appends, []
        return appends

    def positions_to_commit(self):
        return self._progress.positions_to_commit()


class LoggedServer(WithLog, Server):
    """Answers what it reads. A record is settled when its answer is durable."""

    def __init__(self, settings, place):
        Server.__init__(self, EchoSettings(), place.address)
        self._counters |= {"read": 0, "answered": 0, "owned": 0}
        self._begin(Subscription(WORDS, "servers"))

    def assigned(self, partitions, now):
        super().assigned(partitions, now)
        self._counters["owned"] += len(partitions)

    def revoked(self, partitions, now):
        super().revoked(partitions, now)
        self._counters["owned"] -= len(partitions)

    def receive_records(self, records, now):
        for record in records:
            self._progress.read(record)
            self._counters["read"] += 1
            self._appends.append(Append(f"answers.{record.key.decode()}", record.key, record.value, record))

    def appended(self, tokens, now):
        super().appended(tokens, now)
        self._counters["answered"] += len(tokens)

    def check_invariants(self):
        super().check_invariants()
        self._progress.check_invariants()


class LoggedCaller(WithLog, Caller):
    """Says what it has to say in the log, and hears its answers there."""

    def __init__(self, *arguments):
        Caller.__init__(self, *arguments)
        self._begin(Subscription(f"answers.{self._number}", f"caller-{self._number}"))

    def records_to_append(self):
        said, self._outgoing = self._outgoing, []
        return [Append(WORDS, b"%d" % self._number, data) for _, data, _ in said]

    def datagrams_to_send(self):
        return ()

    def receive_records(self, records, now):
        for record in records:
            self._progress.read(record)
            self._progress.settle(record.topic, record.partition, record.position)
            self.receive_datagram(0, record.value, None, now)


class Logged(Echo):
    name, title, summary = "logged", "Logged", "Servers answer what callers append to a log."
    gauges = frozenset({"owned"})
    faults = log_faults(("echo",), ("caller",))
    work_units = {"echo": ("read", "answered")}
    Settings = LoggedSettings

    def log_of(self, setup):
        settings = setup.settings
        topics = (Topic(WORDS, settings.partitions),)
        return LogSpec(topics, engine=settings.engine, member_timeout_s=settings.member_timeout_s)

    def identity(self, plan):
        return "caller", plan[0]

    def make_meter(self, actor, role):
        if role != "echo":
            return super().make_meter(actor, role)
        return ServerMeter(lambda: {name: actor.statistics(0)[name] for name in ("read", "answered")})

    def make_server(self, config, place, chances, wall_offset_ns, *, is_simulated=False):
        return LoggedServer(config, place)

    def make_fleet(self, plans, servers, setup, windows, *, wall_offset_ns, most_lanes):
        tally = Tally()
        made = [LoggedCaller(plan, servers, setup.workload, windows, tally, setup.seed) for plan in plans]
        return Fleet(made, tally)


SYSTEM = Logged()
