"""Bulk mode: what waits, until when, and that each neighbour is told what it must know."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.federation.broker.bulk import Bulk, BulkQueue
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.settings import ON, Settings
from overlay.systems.federation.tables.destinations import neighbour
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire import values as v
from tests.thorough import examples

ONE, OTHER = neighbour("b1"), neighbour("b2")


def sigma(number, expires=100, priority=v.Priority.LOW):
    """``expires``: ms."""
    return v.Subscription(v.SubscriptionId("c0", number), ("s0",), expires, priority=priority)


def added(*several, where=ONE, removed=(), renewed=()):
    return Change(
        where,
        several,
        tuple(v.SubscriptionId("c0", number) for number in removed),
        frozenset(v.SubscriptionId("c0", number) for number in renewed),
    )


def hold(queue, change, now=0):
    at_once = queue.hold(change, now * MILLISECOND, lambda one: one.expires * MILLISECOND)
    return [one.id.number for one in at_once.added], [sid.number for sid in at_once.removed]


def flushed(queue):
    return {change.destination: [one.id.number for one in change.added] for change in queue.flush()}


def test_low_priority_waits_and_all_else_goes_at_once():
    queue = BulkQueue(12)
    assert hold(queue, added(sigma(1), sigma(2, priority=v.Priority.NORMAL), sigma(3))) == ([2], [])
    assert (len(queue), queue.deadline) == (2, 50 * MILLISECOND)
    assert flushed(queue) == {ONE: [1, 3]}
    assert (len(queue), queue.deadline) == (0, None)


@pytest.mark.parametrize(
    ("is_postponed", "deadlines"),
    [(False, [50, 50, 30, 30]), (True, [50, 60, 30, 35])],
)
def test_each_addition_sets_half_of_the_shortest_time_left_and_may_postpone_only_as_published(is_postponed, deadlines):
    queue, found = BulkQueue(12, is_postponed=is_postponed), []
    for number, (now, expires) in enumerate([(0, 100), (20, 200), (20, 40), (30, 300)]):
        hold(queue, added(sigma(number, expires)), now)
        found.append(queue.deadline // MILLISECOND)
    assert found == deadlines


def test_the_queue_is_full_at_omega():
    queue = BulkQueue(2)
    hold(queue, added(sigma(1)))
    assert not queue.is_full
    hold(queue, added(sigma(1), where=OTHER))
    assert not queue.is_full
    hold(queue, added(sigma(2)))
    assert queue.is_full
    assert flushed(queue) == {ONE: [1, 2], OTHER: [1]}


def test_what_is_removed_while_it_waits_was_never_told():
    queue = BulkQueue(12)
    hold(queue, added(sigma(1), sigma(2)))
    assert hold(queue, added(removed=[1, 7])) == ([], [7])
    assert hold(queue, added(removed=[2])) == ([], [])
    assert queue.deadline is None


def test_a_renewal_goes_at_once_unless_the_first_one_still_waits():
    queue = BulkQueue(12)
    assert hold(queue, added(sigma(1, 200), renewed=[1])) == ([1], [])
    hold(queue, added(sigma(2)))
    assert hold(queue, added(sigma(2, 60), renewed=[2])) == ([], [])
    assert (len(queue), queue.deadline) == (1, 30 * MILLISECOND)


def test_what_a_removed_one_covered_goes_with_the_removal():
    queue = BulkQueue(12)
    assert hold(queue, added(sigma(1), removed=[7])) == ([1], [7])
    assert len(queue) == 0


def test_a_complete_table_leaves_nothing_waiting_for_that_neighbour():
    queue = BulkQueue(12)
    hold(queue, added(sigma(1)))
    hold(queue, added(sigma(1), where=OTHER))
    queue.forget(ONE)
    assert flushed(queue) == {OTHER: [1]}
    hold(queue, added(sigma(1)))
    queue.forget(ONE)
    assert queue.deadline is None


# ---- in a broker


class Clocked:
    """What ``Bulk`` needs of ``Peers``."""

    name, now = "b0", 0

    def at_wall_ms(self, wall_ms):
        return wall_ms * MILLISECOND


class Harness:
    def __init__(self, **values):
        self.told = {ONE: {}, OTHER: {}}
        self.messages = 0
        self.station = Station(Settings(mobile_brokers="0", bulk=ON, **values), Clocked())
        self.bulk = Bulk(self.station, self.take)

    def take(self, change):
        self.messages += 1
        for one in change.added:
            self.told[change.destination][one.id.number] = one
        for sid in change.removed:
            del self.told[change.destination][sid.number]

    def step(self, now, *changes):
        self.station.peers.now = now
        for clock, key in self.station.timers.due(now):
            assert clock is Clock.BULK
            self.bulk.ring(key)
        for change in changes:
            self.bulk.tell(change)
        self.bulk.settle()
        self.bulk.check_invariants()


def test_a_broker_sends_at_the_deadline_and_counts_delays():
    one = Harness(omega=3)
    one.step(0, added(sigma(1)))
    one.step(20 * MILLISECOND, added(sigma(2)))
    assert one.told[ONE] == {}
    assert one.station.timers.next_timer() == 50 * MILLISECOND
    one.step(50 * MILLISECOND)
    assert sorted(one.told[ONE]) == [1, 2]
    assert one.messages == 1
    assert one.station.counters == {"bulk_batches": 1, "bulk_sent": 2, "bulk_delay_ms": 80}


def test_a_broker_sends_a_full_queue_at_once_and_all_that_one_step_adds_together():
    one = Harness(omega=3)
    one.step(0, added(sigma(1), sigma(2)))
    one.step(1, added(sigma(3), sigma(4)))
    assert sorted(one.told[ONE]) == [1, 2, 3, 4]
    assert one.station.timers.next_timer() is None
    one.step(2, added(sigma(5)))
    one.bulk.forget("b1")
    one.bulk.check_invariants()
    assert one.station.timers.next_timer() is None


def test_what_expires_at_once_does_not_wait():
    one = Harness()
    one.step(100 * MILLISECOND, added(sigma(1, 100)))
    assert sorted(one.told[ONE]) == [1]


STEPS = st.lists(
    st.tuples(
        st.integers(0, 40),  # ms since the one before
        st.sampled_from(["add", "add", "add", "remove"]),
        st.integers(0, 5),  # number
        st.integers(1, 200),  # ms to expiry
        st.sampled_from(list(v.Priority)),
        st.sets(st.sampled_from([ONE, OTHER]), min_size=1),
    ),
    max_size=40,
)


@settings(max_examples=examples(300))
@given(STEPS, st.integers(1, 5), st.sampled_from(["earliest", "postponed"]))
def test_neighbours_are_told_what_is_wanted_at_half_of_its_time_and_nothing_that_is_gone(steps, omega, deadline):
    one = Harness(omega=omega, bulk_deadline=deadline)
    wanted = {ONE: {}, OTHER: {}}
    """What neighbours should know, and its last expiry and addition, ms."""
    now, halves = 0, {}

    def expire(until):
        """As the tables do: at its expiry, a subscription goes from all that were told."""
        while True:
            gone = [(row.expires, where, number) for where in wanted for number, row in wanted[where].items()]
            due = min((expires for expires, _, _ in gone), default=until + 1)
            timer = one.station.timers.next_timer()
            at = due if timer is None else min(due, -(-timer // MILLISECOND))
            if at > until:
                return
            changes = [added(where=where, removed=[number]) for expires, where, number in gone if expires <= at]
            for change in changes:
                del wanted[change.destination][change.removed[0].number]
            one.step(at * MILLISECOND, *changes)

    for gap, what, number, left, priority, wheres in steps:
        now += gap
        expire(now)
        changes = []
        for where in sorted(wheres):
            known = wanted[where].get(number)
            if what == "remove" and known:
                del wanted[where][number]
                changes.append(added(where=where, removed=[number]))
            elif what != "remove":
                row = sigma(number, now + left, known.priority if known else priority)
                wanted[where][number] = row
                halves[where, number] = (2 * now + left) * MILLISECOND // 2
                changes.append(added(row, where=where, renewed=[number] if known else []))
        one.step(now * MILLISECOND, *changes)
        for where in wanted:
            for number_ in one.told[where]:
                assert number_ in wanted[where], "told, though it is gone"
            for number_, row in wanted[where].items():
                if one.told[where].get(number_) != row:
                    assert row.priority is v.Priority.LOW
                    assert deadline == "postponed" or one.bulk._queue.deadline <= halves[where, number_]
        assert len(one.bulk) < omega
    expire(now + SECOND // MILLISECOND)
    assert one.told == wanted == {ONE: {}, OTHER: {}}
    assert len(one.bulk) == 0
