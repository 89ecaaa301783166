"""Both kinds of table against a plain model, a dict of live entries and a maximum; and a scan against its stand-in."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from overlay.broker.messages import ContextUpdateAdvertisement, raw_key
from overlay.broker.table import Entry, Linear, Stored, Table, djb2

MOST_ENTRIES, MOST_BYTES = 4, 220


def entry(key=("t", "i", "s"), provider="p", stamp=1, begin=0, end=100, payload=b"x"):
    return Entry.of(ContextUpdateAdvertisement(stamp, "U", provider, *key, begin, end, payload))


class TableAgainstModel(RuleBasedStateMachine):
    keys = st.tuples(st.just("t"), st.sampled_from(["a", "b"]), st.sampled_from(["s", "as"]))

    @initialize(kind=st.sampled_from(["indexed", "linear"]))
    def start(self, kind):
        self.table = Table(kind, MOST_ENTRIES, MOST_BYTES)
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


class ReckonedAgainstScanned(RuleBasedStateMachine):
    """Two linear tables that are told the same: one scans, the other finds and counts what a scan would."""

    keys = st.sampled_from([("t", "sensorEz", "s"), ("t", "sensorFY", "s"), ("t", "a", "bs"), ("t", "ab", "s")])
    """The first two share a slot, and the last two."""

    def __init__(self):
        super().__init__()
        self.scanned, self.reckoned = Table("linear", 12, 10_000), Table("linear", 12, 10_000)
        self.reckoned.spare_scans()
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
        assert self.scanned.store(new, self.wall) is self.reckoned.store(new, self.wall)

    @rule(key=keys)
    def find(self, key):
        raw = raw_key(key)
        assert self.reckoned.find(raw, self.wall) is self.scanned.find(raw, self.wall)

    @rule(later=st.integers(1, 9))
    def pass_time(self, later):
        self.wall += later
        self.scanned.expire(self.wall)
        self.reckoned.expire(self.wall)

    @invariant()
    def they_hold_the_same_and_counted_the_same(self):
        assert list(self.reckoned) == list(self.scanned)
        assert self.reckoned.compared == self.scanned.compared
        self.reckoned.check_invariants()


TestTable = TableAgainstModel.TestCase
TestReckoned = ReckonedAgainstScanned.TestCase
TestReckoned.settings = settings(max_examples=200, stateful_step_count=40)
TestTable.settings = settings(max_examples=200, stateful_step_count=40)


def test_the_prototypes_hash_collides_and_the_linear_table_keeps_both():
    assert djb2(b"sensorEz") == djb2(b"sensorFY")
    table = Table("linear", 10, 10_000)
    for key in [("t", "sensorEz", "s"), ("t", "sensorFY", "s"), ("ta", "b", "s"), ("t", "ab", "s")]:
        assert table.store(entry(key), 0) is Stored.STORED
    assert table.entries == 4
    assert table.find(b"t|sensorEz|s", 1).key == b"t|sensorEz|s"
    assert table.find(b"t|ab|s", 1).key == b"t|ab|s"
    assert len(list(Linear())) == 0


@pytest.mark.parametrize("kind", ["indexed", "linear"])
def test_endless_updates_leave_no_trace_but_the_last(kind):
    table = Table(kind, 10, 10_000)
    for stamp in range(5000):
        assert table.store(entry(stamp=stamp, end=10_000_000 - stamp), 0) is Stored.STORED
        table.check_invariants()
    assert table.entries == 1
