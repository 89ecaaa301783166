"""A store in any order of events, with deaths: nothing is lost, nothing expired is sent, each node has its order."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from overlay.core.node import SECOND
from overlay.systems.contextnet.mtd.lifetimes import US
from overlay.systems.contextnet.records.records import Message, Reason, Unsent
from tests.contextnet.records_of import node, presence, record
from tests.contextnet.stores import Stored, name, read
from tests.thorough import examples

NODES = st.integers(0, 2)
PER_NODE = 4
SETTINGS = {"per_node": PER_NODE, "drain_per_s": 10, "ttl_default_s": 20, "total_mb": 1}


class Log(RuleBasedStateMachine):
    """One partition of ``unsent``, topics of gateways and of what was discarded; and one store, of several lives."""

    def __init__(self):
        super().__init__()
        self.unsent, self.pending, self.durable = [], [], []
        self.read_to = self.committed = 0
        self.epochs = defaultdict(int)
        self.at = {}
        """Where each node is, and whether it is connected."""
        self.stored = Stored(**SETTINGS)
        self.begin(0)

    # ---- the store

    def begin(self, now):
        """A life: what is not committed comes again, and where nodes are."""
        self.stored = Stored(**SETTINGS)
        self.stored.now = now
        self.pending = []
        self.read_to = self.committed
        self.stored.lists(1, 0, 1)
        for number, (gateway, connected) in self.at.items():
            self.feed(presence(number, gateway, self.epochs[number], connected))

    @property
    def mtd(self):
        return self.stored.mtd

    def feed(self, *records):
        self.mtd.receive_records(records, self.stored.now)
        self.collect()

    def collect(self):
        """What it appends is under way."""
        for append in self.mtd.records_to_append():
            topic, found = read(append)
            if topic.startswith("gateway."):
                stored = self.unsent[int(name(found.message.id))]
                ttl = found.message.ttl_s or SETTINGS["ttl_default_s"]
                assert self.stored.unix_us < stored.appended_us + ttl * US, "nothing is sent that has expired"
            self.pending.append(append)
        for position in self.mtd.positions_to_commit():
            if position.topic == "unsent":
                self.committed = position.position

    # ---- what happens

    @rule(number=NODES, ttl=st.sampled_from([0, 1, 3]), size=st.sampled_from([0, 50_000]))
    def give_up(self, number, ttl, size):
        """A gateway stores a message."""
        at = self.stored.unix_us
        message = Message(str(len(self.unsent)).encode().ljust(16), "a", node(number).hex(), at, ttl, bytes(size))
        value = Unsent(message, "gateway-0", self.epochs[number], Reason.BROKEN)
        self.unsent.append(record("unsent", value, node(number), at_us=at, position=len(self.unsent)))

    @precondition(lambda self: self.read_to < len(self.unsent))
    @rule(most=st.integers(1, 5))
    def read(self, most):
        records = self.unsent[self.read_to : self.read_to + most]
        self.read_to += len(records)
        self.feed(*records)

    @rule(number=NODES, gateway=st.integers(0, 1))
    def connect(self, number, gateway):
        self.epochs[number] += 1
        self.at[number] = gateway, True
        self.feed(presence(number, gateway, self.epochs[number]))

    @precondition(lambda self: self.at)
    @rule(number=NODES)
    def disconnect(self, number):
        if number in self.at:
            self.at[number] = self.at[number][0], False
            self.feed(presence(number, self.at[number][0], self.epochs[number], connected=False))

    @precondition(lambda self: self.pending)
    @rule(most=st.integers(1, 6))
    def become_durable(self, most):
        """The oldest appends."""
        appends, self.pending = self.pending[:most], self.pending[most:]
        self.durable += map(read, appends)
        self.mtd.appended([append.token for append in appends], self.stored.now)
        self.collect()

    @rule(seconds=st.sampled_from([0.1, 1, 4]))
    def wait(self, seconds):
        until = self.stored.now + round(seconds * SECOND)
        while (at := self.mtd.next_timer()) is not None and at <= until:
            self.stored.now = max(self.stored.now, at)
            self.mtd.handle_timer(self.stored.now)
            assert (self.mtd.next_timer() or self.stored.now + 1) > self.stored.now
            self.collect()
        self.stored.now = until

    @rule(landed=st.integers(0, 3))
    def die(self, landed):
        """Of what was under way, the oldest is durable, which the store does not hear."""
        self.durable += map(read, self.pending[:landed])
        self.begin(self.stored.now)

    # ---- what holds

    @invariant()
    def its_parts_agree(self):
        self.mtd.check_invariants()

    @invariant()
    def nothing_is_lost(self):
        ended = {name(found.message.id if topic != "discarded" else found.id) for topic, found in self.durable}
        missing = [number for number in range(self.committed) if str(number) not in ended]
        assert not missing, "what is committed was sent or discarded"

    @invariant()
    def each_node_gets_its_messages_in_order(self):
        first = defaultdict(dict)
        for topic, found in self.durable:
            if topic.startswith("gateway."):
                first[found.message.destination].setdefault(int(name(found.message.id)))
        for numbers in first.values():
            assert all(one < other for one, other in pairwise(numbers))

    def teardown(self):
        """At last all nodes stay, and everything ends."""
        for number in range(3):
            self.connect(number, 0)
        for _ in range(40):
            if self.read_to < len(self.unsent):
                self.read(1_000)
            while self.pending:
                self.become_durable(1_000)
            self.wait(1)
        self.nothing_is_lost()
        assert self.committed == len(self.unsent), "all is settled"
        assert self.mtd.store.count == 0


Log.TestCase.settings = settings(max_examples=examples(120), stateful_step_count=40)
TestLog = Log.TestCase
