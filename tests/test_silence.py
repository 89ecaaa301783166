"""Silence of a process, counted only while the observer could have heard it."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.core.node import SECOND
from overlay.core.silence import LOOK, Silence

LEASE = 15 * SECOND


def looked(silence, start, end, step=SECOND // 4):
    """The silence after looks from ``start`` to ``end``, as a supervisor's turns are."""
    told = 0
    for now in range(start, end + 1, step):
        told = silence.look(now)
    return told


def test_a_holder_that_is_frozen_is_silent_for_as_long_as_it_is():
    assert looked(Silence(0), 0, 20 * SECOND) == 20 * SECOND


def test_a_judge_that_was_frozen_counts_one_look_of_it():
    silence = Silence(0)
    looked(silence, 0, 2 * SECOND)
    assert silence.look(22 * SECOND) == 2 * SECOND + LOOK
    silence.hear(22 * SECOND)
    assert silence.look(22 * SECOND + SECOND // 4) == SECOND // 4


def test_holder_and_judge_frozen_together_leave_the_lease_as_it_was():
    silence = Silence(0)
    looked(silence, 0, SECOND)
    silence.hear(SECOND)
    assert silence.look(3600 * SECOND) == LOOK < LEASE


@given(st.lists(st.tuples(st.integers(0, 100 * SECOND), st.booleans()), max_size=50))
def test_it_never_exceeds_what_was_looked_at_since_the_holder_was_heard(steps):
    silence, now, could_hear = Silence(0), 0, 0
    for elapsed, is_heard in steps:
        now += elapsed
        could_hear += min(elapsed, LOOK)
        if is_heard:
            silence.hear(now)
            could_hear = 0
        assert silence.look(now) == could_hear
