"""Both kinds of table against a plain model, a dict of live entries and a maximum; and a scan against its stand-in."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.entries import Entry, Replica, Stored
from overlay.systems.context_broker.broker.linear import Linear, djb2
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.wire.messages import ContextUpdateAdvertisement, raw_key
from tests.thorough import examples

MOST_ENTRIES, MOST_BYTES = 4, 220


def table_of(kind, entries, size, **settings):
    return Table(BrokerConfig(table=kind, table_entries=entries, table_bytes=size, **settings))


def entry(key=("t", "i", "s"), provider="p", stamp=1, begin=0, end=100, payload=b"x"):
    return Entry.of(ContextUpdateAdvertisement(stamp, "U", provider, *key, begin, end, payload))


class TableAgainstModel(RuleBasedStateMachine):
    keys = st.tuples(st.just("t"), st.sampled_from(["a", "b"]), st.sampled_from(["s", "as"]))

    @initialize(kind=st.sampled_from(["indexed", "linear"]))
    def start(self, kind):
        self.table = table_of(kind, MOST_ENTRIES, MOST_BYTES, provider_share=100)  # of shares, see below
        self.model = {}
        self.wall = 0

    def live(self):
        return {name: e for name, e in self.model.items() if e.valid_end > self.wall}

    @rule(
        key=keys,
        provider=st.sampled_from(["p", "q", "r"]),
        stamp=st.integers(0, 9),
        begin=st.integers(0, 30),
        length=st.integers(1, 30),
        size=st.integers(1, 60),
    )
    def store(self, key, provider, stamp, begin, length, size):
        new = entry(key, provider, stamp, begin, begin + length, b"x" * size)
        live = self.live()
        known = live.get((key, provider))
        after = {**live, (key, provider): new}
        if new.valid_end <= self.wall or (known and known.timestamp >= stamp):
            expected = Stored.UNCHANGED
        elif len(after) > MOST_ENTRIES or sum(len(e.response) for e in after.values()) > MOST_BYTES:
            expected = Stored.FULL
        else:
            expected, self.model = Stored.STORED, after
        assert self.table.store(new, self.wall) is expected

    @invariant()
    def find_the_latest_valid(self):
        if hasattr(self, "table"):
            for key in [("t", "a", "s"), ("t", "b", "s"), ("t", "a", "as"), ("t", "b", "as")]:
                self.find(key)

    def find(self, key):
        valid = [e for (k, _), e in self.model.items() if k == key and e.valid_begin <= self.wall < e.valid_end]
        found = self.table.find(raw_key(key), self.wall)
        assert (found is None) == (not valid)
        if found:
            assert found.timestamp == max(e.timestamp for e in valid)
            assert self.model[key, found.provider] is found

    @rule(ms=st.integers(1, 20))
    def pass_time(self, ms):
        self.wall += ms

    @rule()
    def expire(self):
        while self.table.expire(self.wall, most=1):
            pass
        self.model = self.live()
        assert self.table.entries == len(self.model)
        assert self.table.next_expiry() is None or self.table.next_expiry() > self.wall

    @invariant()
    def books_balance(self):
        if hasattr(self, "table"):
            self.table.check_invariants()


NEAR, FAR, ELSEWHERE = ("10.0.0.1", 1), ("10.0.0.1", 2), ("10.0.0.2", 1)
BLOCKS = [("203.0.113.0/24", 0), ("198.51.100.0/24", 0)]


class SharesAgainstModel(RuleBasedStateMachine):
    """A table of 20 entries and 2,000 bytes with quotas, against a dict of what it keeps and sums over all of it."""

    sources = st.sampled_from([NEAR, FAR, ELSEWHERE, *BLOCKS, None])

    @initialize(kind=st.sampled_from(["indexed", "linear"]))
    def start(self, kind):
        shares = {"provider_share": 60, "source_share": 50, "stranger_share": 20, "strangers_share": 30}
        self.table = table_of(kind, 20, 2_000, **shares)
        self.model = {}
        self.wall = self.stamp = 0

    @rule(
        name=st.integers(0, 30),
        provider=st.sampled_from("pq"),
        source=sources,
        size=st.integers(1, 300),
        length=st.integers(1, 60),
    )
    def store(self, name, provider, source, size, length):
        self.stamp += 1
        new = entry(("t", f"{name}", "s"), provider, self.stamp, self.wall, self.wall + length, b"x" * size)
        new.source = source
        live = {at: e for at, e in self.model.items() if e.valid_end > self.wall and at != (name, provider)}
        own = [e for e in live.values() if not isinstance(e, Replica)]
        if len(own) + 1 > 20 or self.bytes(own) + len(new.response) > 2_000:
            expected = Stored.FULL
        elif not self.permitted([*own, new], new):
            expected = Stored.OVER_SHARE
        else:
            expected = Stored.STORED
        assert self.table.store(new, self.wall) is expected
        self.settle(name, provider, new, expected)

    @rule(name=st.integers(0, 30), provider=st.sampled_from("pq"), size=st.integers(1, 300))
    def keep_replica(self, name, provider, size):
        self.stamp += 1
        told = entry(("t", f"{name}", "s"), provider, self.stamp, self.wall, self.wall + 60, b"x" * size)
        new = Replica(told.key, provider, told.valid_begin, told.valid_end, told.response)
        others = [e for at, e in self.model.items() if e.valid_end > self.wall and at != (name, provider)]
        fits = len(others) < 20 and self.bytes(others) + len(new.response) <= 2_000
        stored = self.table.store(new, self.wall)
        assert stored is (Stored.STORED if fits else Stored.FULL), "a replica takes room that is free, and no other"
        self.settle(name, provider, new, stored)

    @rule(ms=st.integers(1, 30))
    def pass_time(self, ms):
        self.wall += ms

    def settle(self, name, provider, new, stored):
        before = {at: e for at, e in self.model.items() if e.valid_end > self.wall}
        if stored is Stored.STORED:
            before[name, provider] = new
        self.model = {at: e for at, e in before.items() if self.table.held(e.key, e.provider, self.wall) is e}
        gone = [e for at, e in before.items() if at not in self.model]
        assert all(isinstance(e, Replica) for e in gone), "only replicas make room"
        assert not gone or not (isinstance(new, Replica) or stored.is_refused), "and for nothing but what is stored"

    def permitted(self, own, new):
        of_provider = [e for e in own if e.provider == new.provider]
        limits = [(of_provider, 60)]
        if new.source is not None:
            is_stranger = not new.source[1]
            limits.append(([e for e in own if e.source == new.source], 20 if is_stranger else 50))
            if is_stranger:
                limits.append(([e for e in own if e.source in BLOCKS], 30))
        return all(
            len(some) <= 20 * percent / 100 and self.bytes(some) <= 2_000 * percent / 100 for some, percent in limits
        )

    @staticmethod
    def bytes(entries):
        return sum(len(e.response) for e in entries)

    @invariant()
    def books_balance(self):
        if hasattr(self, "table"):
            self.table.check_invariants()


class ModelledAgainstScanned(RuleBasedStateMachine):
    """Two linear tables that are told the same: one scans, the other finds and counts what a scan would."""

    keys = st.sampled_from([("t", "sensorEz", "s"), ("t", "sensorFY", "s"), ("t", "a", "bs"), ("t", "ab", "s")])
    """The first two share a slot, and the last two."""

    def __init__(self):
        super().__init__()
        self.scanned, self.modelled = table_of("linear", 12, 10_000), table_of("linear", 12, 10_000)
        self.modelled.spare_scans()
        self.wall = 0

    @rule(
        key=keys,
        provider=st.sampled_from("pqrs"),
        stamp=st.integers(0, 5),
        begin=st.integers(0, 30),
        length=st.integers(1, 30),
    )
    def store(self, key, provider, stamp, begin, length):
        new = entry(key, provider, stamp, begin, begin + length)
        assert self.scanned.store(new, self.wall) is self.modelled.store(new, self.wall)

    @rule(key=keys)
    def find(self, key):
        raw = raw_key(key)
        assert self.modelled.find(raw, self.wall) is self.scanned.find(raw, self.wall)

    @rule(later=st.integers(1, 9))
    def pass_time(self, later):
        self.wall += later
        self.scanned.expire(self.wall)
        self.modelled.expire(self.wall)

    @invariant()
    def they_hold_the_same_and_counted_the_same(self):
        assert list(self.modelled) == list(self.scanned)
        assert self.modelled.compared == self.scanned.compared
        self.modelled.check_invariants()


TestTable = TableAgainstModel.TestCase
TestShares = SharesAgainstModel.TestCase
TestShares.settings = settings(max_examples=examples(100), stateful_step_count=30)
TestModelled = ModelledAgainstScanned.TestCase
TestModelled.settings = settings(max_examples=examples(200), stateful_step_count=40)
TestTable.settings = settings(max_examples=examples(200), stateful_step_count=40)


def test_the_prototypes_hash_collides_and_the_linear_table_keeps_both():
    assert djb2(b"sensorEz") == djb2(b"sensorFY")
    table = table_of("linear", 10, 10_000)
    for key in [("t", "sensorEz", "s"), ("t", "sensorFY", "s"), ("ta", "b", "s"), ("t", "ab", "s")]:
        assert table.store(entry(key), 0) is Stored.STORED
    assert table.entries == 4
    assert table.find(b"t|sensorEz|s", 1).key == b"t|sensorEz|s"
    assert table.find(b"t|ab|s", 1).key == b"t|ab|s"
    assert len(list(Linear())) == 0


@pytest.mark.parametrize("kind", ["indexed", "linear"])
def test_endless_updates_leave_no_trace_but_the_last(kind):
    table = table_of(kind, 10, 10_000)
    for stamp in range(5000):
        assert table.store(entry(stamp=stamp, end=10_000_000 - stamp), 0) is Stored.STORED
        table.check_invariants()
    assert table.entries == 1
