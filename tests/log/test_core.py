"""The log in memory: leases and their generations, retention, faults, and a state machine of all of it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND, SECOND
from overlay.log.groups import Lease, beaten, joined, left, unowned
from overlay.log.member import Commit, Member
from overlay.log.node import Start
from overlay.log.spec import LogSpec
from overlay.log.topics import Position, Topic
from tests.log.reader import TOPICS, MemoryLog, Reader, reads
from tests.thorough import examples


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("engine", "rabbit", "must be one of valkey, nats, kafka, memory, not 'rabbit'"),
        ("durability", "never", "must be one of none, everysec, always"),
        ("member_timeout_s", 0, "must be above 0, not 0"),
        ("topics", (Topic("a"), Topic("a")), "names a topic twice"),
    ],
)
def test_a_log_that_cannot_be_is_refused(field, value, sentence):
    with pytest.raises(InvalidSetting, match=sentence) as caught:
        LogSpec(**{"topics": TOPICS, field: value})
    assert caught.value.field == field


def test_leases_go_from_hand_to_hand_at_heartbeats_only():
    leases = beaten(unowned(3), {"a"}, "a")
    assert leases == (Lease("a", 1),) * 3
    assert beaten(leases, {"a", "b"}, "b") == leases  # a is asked first
    leases = beaten(leases, {"a", "b"}, "a")
    assert leases == (Lease("a", 1), Lease("a", 1), Lease("", 1))
    leases = beaten(leases, {"a", "b"}, "b")
    assert leases == (Lease("a", 1), Lease("a", 1), Lease("b", 2))
    assert beaten(leases, {"b"}, "b") == (Lease("b", 2), Lease("b", 2), Lease("b", 2))  # a is dead
    assert joined(leases, "a") == (Lease("a", 2), Lease("a", 2), Lease("b", 2))  # a was started again
    assert left(leases, "a") == (Lease("", 1), Lease("", 1), Lease("b", 2))


def test_a_commit_with_an_old_generation_is_refused_and_changes_nothing():
    log = MemoryLog()
    first = log.start("first", Reader(reads()))
    log.until(lambda: len(first.owned) == 4)
    log.kill("first")
    second = log.start("second", Reader(reads()))
    log.until(lambda: len(second.owned) == 4)
    assert not log.core.commit(Commit(Position("letters", "readers", 0, 7), generation=1))
    assert log.core.commit(Commit(Position("letters", "readers", 0, 0), generation=2))


def test_records_are_dropped_by_age_and_number_and_counted(monkeypatch):
    log = MemoryLog(LogSpec((Topic("letters"),), retention_s=10, most_records=5))
    writer = log.start("writer", Reader())
    for number in range(8):
        writer.append("same", str(number))
    log.until(lambda: len(writer.durable) == 8)
    reader = log.start("reader", Reader(reads()))
    log.until(lambda: reader.values == ["3", "4", "5", "6", "7"])
    log.now += 20 * SECOND
    writer.append("same", "late")
    log.until(lambda: "late" in writer.durable)
    another = log.start("another", Reader(reads(group="others")))
    log.until(lambda: another.values == ["late"])


def test_who_reads_a_whole_topic_may_skip_what_is_old():
    log = MemoryLog()
    writer = log.start("writer", Reader())
    writer.append("a", "old", topic="addresses")
    log.until(lambda: writer.durable == ["old"])
    log.now += 100 * SECOND
    writer.append("b", "young", topic="addresses")
    log.until(lambda: len(writer.durable) == 2)
    reader = log.start("reader", Reader(reads("addresses", "mine", Start.WHOLE, since_s=50)))
    log.until(lambda: reader.values == ["young"])
    assert [end for end in reader.ends.values() if end] == [reader.seen[0].position + 1]
    log.now += 2 * SECOND
    later = log.start("later", Reader(reads("addresses", "later", Start.WHOLE, since_s=1)))
    log.until(lambda: len(later.owned) == 2)
    assert set(later.ends.values()) == {0}, "nothing is to come, and it need not wait"


def is_quiet(log):
    """Whether a step of all members leaves nothing to be fed: a driver steps those that are named again, at once."""
    log.core.news()
    log.step_all()
    return not log.core.news()


def test_a_reader_without_room_is_not_stepped_again_and_again():
    log = MemoryLog()
    writer, reader = log.start("writer", Reader()), log.start("reader", Reader(reads(), keeps=True, most=1))
    log.until(lambda: len(reader.owned) == 4)
    for number in range(3):
        writer.append("a", str(number))
    log.until(lambda: len(writer.durable) == 3 and reader.values == ["0"])
    assert is_quiet(log)
    reader.settle()
    log.until(lambda: reader.values == ["0", "1"])
    assert is_quiet(log)


def test_who_names_the_same_subscriptions_again_is_not_asked_at_once_for_its_partitions():
    """Group definers made new ones at each call, and kept a core busy for nothing."""

    class Definer(Reader):
        def subscriptions(self):
            return (*super().subscriptions(),)

    member = Member("definer", Definer(reads(), reads("addresses", start=Start.WHOLE)))
    assert [member.take(), member.take()] == [True, False]
    member.node.subscribe(reads())
    assert [member.take(), member.take()] == [True, False]


def test_records_that_are_all_too_old_are_passed_over():
    log = MemoryLog()
    writer = log.start("writer", Reader())
    reader = log.start("reader", Reader(reads("addresses", "mine", Start.WHOLE, since_s=1)))
    log.until(lambda: len(reader.owned) == 2)
    log.core.cut("reader", log.now)
    writer.append("a", "old", topic="addresses")
    log.until(lambda: writer.durable == ["old"])
    log.now += 3 * SECOND // 2
    log.core.mend("reader", log.now)
    assert is_quiet(log)
    writer.append("a", "young", topic="addresses")
    log.until(lambda: reader.values == ["young"])


def test_a_record_is_durable_after_the_delay_and_later_in_a_slow_log():
    log = MemoryLog()
    writer = log.start("writer", Reader())
    for slow_ms in (0, 500):
        log.core.slow_ns = slow_ms * MILLISECOND
        begin, before = log.now, len(writer.durable)
        writer.append("a", "x")
        log.until(lambda before=before: len(writer.durable) > before)
        assert log.now - begin == 300_000 + slow_ms * MILLISECOND


def test_a_process_that_is_cut_off_loses_its_partitions_and_gets_some_again():
    log = MemoryLog()
    cut, other, writer = (
        log.start(name, Reader(*also)) for name, also in (("cut", [reads()]), ("other", [reads()]), ("writer", []))
    )
    log.until(lambda: len(cut.owned) == len(other.owned) == 2)
    log.core.cut("cut", log.now)
    cut.append("a", "waits")
    log.until(lambda: len(other.owned) == 4)
    for number in range(20):
        writer.append(str(number), str(number))
    log.until(lambda: len(other.seen) == 20)
    assert (cut.durable, cut.seen) == ([], [])
    log.core.mend("cut", log.now)
    log.until(lambda: len(cut.owned) == len(other.owned) == 2 and cut.durable == ["waits"])


def test_topics_from_outside_cannot_fill_the_log(monkeypatch):
    monkeypatch.setattr("overlay.log.core.MOST_TOPICS", 2)
    log = MemoryLog()
    writer = log.start("writer", Reader())
    for topic in ("one", "two", "three"):
        writer.append("a", topic, topic=topic)
    log.until(lambda: len(writer.durable) == 3)
    assert (log.core.counters["appended"], log.core.counters["unknown"]) == (2, 1)


NAMES = st.sampled_from(["a", "b", "c"])


class Machine(RuleBasedStateMachine):
    """Readers of one group come, go, stop and die while others write and the log fails. In the end all was read."""

    @initialize()
    def begin(self):
        self.log = MemoryLog(LogSpec((Topic("letters", 3),), member_timeout_s=2.0))
        self.writer = self.log.start("writer", Reader())
        self.readers, self.all, self.written = {}, [], []
        self.stopped, self.is_down = set(), False

    @rule(keys=st.lists(st.sampled_from("xyz"), max_size=4))
    def write(self, keys):
        for key in keys:
            value = f"{key}{len(self.written)}"
            self.written.append(value)
            self.writer.append(key, value)

    @rule(name=NAMES, keeps=st.booleans(), most=st.integers(1, 5))
    def start(self, name, keeps, most):
        if name not in self.readers:
            self.readers[name] = self.log.start(name, Reader(reads(), keeps=keeps, most=most))
            self.all.append(self.readers[name])

    @precondition(lambda self: self.readers)
    @rule(name=NAMES, how=st.sampled_from(["kill", "end"]))
    def go(self, name, how):
        if name in self.readers and (how == "kill" or name not in self.stopped):
            del self.readers[name]
            self.stopped.discard(name)
            getattr(self.log, how)(name)

    @rule(name=NAMES)
    def stop_or_resume(self, name):
        if name in self.readers:
            (self.log.resume if name in self.stopped else self.log.stop)(name)
            self.stopped ^= {name}

    @rule(name=NAMES)
    def settle(self, name):
        if name in self.readers:
            self.readers[name].settle()

    @rule(name=NAMES, cuts=st.booleans())
    def cut_or_mend(self, name, cuts):
        (self.log.core.cut if cuts else self.log.core.mend)(name, self.log.now)

    @rule(is_down=st.booleans())
    def fail(self, is_down):
        self.log.core.set_down(is_down, self.log.now)

    @rule(turns=st.integers(1, 12))
    def go_on(self, turns):
        for _ in range(turns):
            self.log.turn()

    @invariant()
    def each_partition_has_one_owner_and_is_read_in_order(self):
        self.log.core.check_invariants()

    def teardown(self):
        if not hasattr(self, "log"):
            return
        self.log.core.set_down(False, self.log.now)
        for name in "abc":
            self.log.core.mend(name, self.log.now)
            if name in self.readers:
                self.log.kill(name)
        last = self.log.start("last", Reader(reads()))
        self.log.until(lambda: len(self.writer.durable) == len(self.written))
        self.log.until(lambda: len(last.owned) == 3)
        settled = {value for reader in self.all for value in reader.settled}
        self.log.until(lambda: settled | set(last.values) == set(self.written))
        assert self.writer.durable == self.written
        for key in "xyz":
            of_key = [value for value in last.values if value[0] == key]
            assert of_key == sorted(of_key, key=lambda value: int(value[1:]))


Machine.TestCase.settings = settings(max_examples=examples(100), stateful_step_count=30)
TestMachine = Machine.TestCase
