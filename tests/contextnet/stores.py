"""A store and the log around it, for tests: what it appends is durable when a test says so."""

from __future__ import annotations

from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.log.node import Assignment
from overlay.systems.contextnet.mtd.mtd import Mtd
from overlay.systems.contextnet.mtd.settings import MtdSettings
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import ConnectionReport, Held, Message, Reason, Unsent
from overlay.systems.contextnet.routing.settings import RoutingSettings
from tests.contextnet.records_of import UNIX_US, gateway_list, node, presence, record

WALL_NS = UNIX_US * 1_000
RETENTION_S = 7_200


class Stored:
    """Seconds count from its start; records are read at once."""

    def __init__(self, routing="directory", retention_s=RETENTION_S, **settings):
        self.mtd = Mtd(
            "mtd-0",
            ("127.0.0.1", 1),
            MtdSettings(**settings),
            RoutingSettings(routing=routing),
            retention_s,
            Chances.streams(1),
            WALL_NS,
        )
        self.now = 0
        self.pending = []
        self.durable = []
        """(topic, record), of all that it has appended."""
        self._assigned = set()
        self._numbers = 0
        self.assign()

    @property
    def unix_us(self):
        return UNIX_US + self.now // 1_000

    def assign(self):
        found = [one for one in self.mtd.subscriptions() if one not in self._assigned]
        self._assigned = set(self.mtd.subscriptions())
        self.mtd.assigned([Assignment(one.topic, one.group, 0, 0) for one in found], self.now)

    def read(self, *records):
        self.mtd.receive_records(records, self.now)
        self.step()

    def unsent(self, number, epoch=1, name=None, position=None, **message):
        self._numbers += 1
        id = (name or f"message {self._numbers}").encode().ljust(16)
        made = Message(id, "applications-0", node(number).hex(), message.pop("created_at", self.unix_us), **message)
        value = Unsent(made, "gateway-0", epoch, Reason.BROKEN)
        self.read(record("unsent", value, node(number), at_us=self.unix_us, position=position))

    def lists(self, version, *numbers):
        self.read(gateway_list(version, *numbers, at_us=self.unix_us))

    def presence(self, number, gateway, epoch, connected=True):
        self.read(presence(number, gateway, epoch, connected))

    def report(self, gateway, *held, at_us=None):
        """``held``: numbers of nodes, and epochs."""
        at_us = self.unix_us if at_us is None else at_us
        nodes = tuple(Held(node(number), epoch) for number, epoch in held)
        name = f"gateway-{gateway}"
        self.read(
            record("connection_report", ConnectionReport(name, 1, at_us, at_us, 2_000, 0, (), nodes), name.encode())
        )

    def step(self):
        """Everything becomes durable."""
        self.pending += self.mtd.records_to_append()
        self.complete()
        self.mtd.check_invariants()

    def complete(self):
        while self.pending:
            appends, self.pending = self.pending, []
            self.durable += map(read, appends)
            self.mtd.appended([one.token for one in appends], self.now)
            self.pending += self.mtd.records_to_append()

    def wait(self, seconds):
        """All timers of this time, one after the other."""
        until = self.now + round(seconds * SECOND)
        while (at := self.mtd.next_timer()) is not None and at <= until:
            self.now = max(self.now, at)
            self.mtd.handle_timer(self.now)
            assert (self.mtd.next_timer() or self.now + 1) > self.now, "(I12)"
            self.step()
        self.now = until

    def sent(self, topic=None):
        """The names of messages in the topics of gateways, or in one."""
        return [
            name(found.message.id)
            for where, found in self.durable
            if (where == topic if topic else where.startswith(("gateway.", "outbound")))
        ]

    def discarded(self):
        return [(name(found.id), found.reason) for topic, found in self.durable if topic == "discarded"]

    def committed(self):
        return {(one.topic, one.partition): one.position for one in self.mtd.positions_to_commit()}


def read(append):
    """Its topic and its record."""
    return append.topic, codec.read(append.topic, append.value)


def name(id):
    return id.rstrip().decode()
