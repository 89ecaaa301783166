"""The memory of queries: bounded, and nothing forgotten for a name that takes no more room."""

from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.seen import Seen

A = ("10.0.0.1", 4001)


def name(number):
    return A, number, b"room|r1|temp"


def test_a_full_memory_forgets_nothing_for_a_query_that_it_knows():
    seen = Seen(capacity=8, lifetime_ns=10 * SECOND)
    assert all(seen.note(name(number), 0) for number in range(8))
    assert not any(seen.note(name(number), 1) for number in range(8))
    seen.check_invariants()


def test_a_full_memory_forgets_the_oldest_for_one_that_it_does_not():
    seen = Seen(capacity=8, lifetime_ns=10 * SECOND)
    assert all(seen.note(name(number), 0) for number in range(9))
    assert [seen.note(name(number), 1) for number in range(1, 9)] == [False] * 8
    assert seen.note(name(0), 1)
    seen.check_invariants()


def test_a_query_is_new_once_its_time_is_over():
    seen = Seen(capacity=8, lifetime_ns=10 * SECOND)
    assert [seen.note(name(0), now) for now in (0, 10 * SECOND - 1, 10 * SECOND)] == [True, False, True]
