"""The parts by themselves: deadlines against a list, the outbox against its rules, records against their bytes."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlay.channel.deadlines import Deadlines
from overlay.channel.outbox import Outbox
from overlay.channel.records import GOES_ON, cut, joined, split
from overlay.channel.wire import LOW, nearest
from overlay.core.node import NEVER
from tests.thorough import examples


class Owner:
    def __init__(self, name=0, order=None):
        """``order``: gets its name whenever it rings."""
        self.queued_at = self.due = NEVER
        self.rank, self.name = 0, name
        self.order = [] if order is None else order
        self.rung = []

    def earliest(self):
        return self.due

    def ring(self, now):
        self.rung.append(now)
        self.order.append(self.name)
        self.due = NEVER


@settings(max_examples=examples(200))
@given(
    st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(1, 50)), st.integers(0, 20)), max_size=80)
)
def test_deadlines_ring_in_time_and_once(steps):
    deadlines, owners, now = Deadlines(), [Owner() for _ in range(5)], 0
    for which, after, passes in steps:
        owner = owners[which]
        owner.due = NEVER if after is None else now + after
        if after is not None:
            deadlines.set(owner, owner.due)
        deadlines.check_invariants(owners)
        first = min(owner.due for owner in owners)
        assert deadlines.next() == (None if first == NEVER else first)
        now += passes
        due = [owner for owner in owners if owner.due <= now]
        before = [len(owner.rung) for owner in due]
        deadlines.ring(now)
        assert [len(owner.rung) for owner in due] == [count + 1 for count in before]
        assert all(owner.due > now for owner in owners)


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(1, 4), st.sampled_from([0, 0, 0, 1, 4]), st.booleans()), max_size=80
    )
)
@example([(0, 2, 0, False), (0, 3, 0, True), (1, 3, 4, False)])  # the first one moved, and a driver asked
def test_who_rings_first_does_not_depend_on_how_often_the_next_deadline_was_asked(steps):
    """A replay asks less often than a driver, and has to send the same in the same order."""
    orders = [], []
    both = [(Deadlines(), [Owner(name, order) for name in range(5)]) for order in orders]
    now = 0
    for which, after, passes, is_asked in steps:
        for deadlines, owners in both:
            owners[which].due = now + after
            deadlines.set(owners[which], now + after)
        if is_asked:
            both[0][0].next()
        now += passes
        for deadlines, _ in both:
            deadlines.ring(now)
    assert orders[0] == orders[1]


def test_a_deadline_that_moves_again_and_again_keeps_the_heap_short():
    deadlines, owner = Deadlines(), Owner()
    for at in range(100_000, 0, -1):
        owner.due = at
        deadlines.set(owner, at)
    assert len(deadlines.heap) < 100 and deadlines.next() == 1


@settings(max_examples=examples(200))
@given(
    st.integers(1, 5),
    st.lists(
        st.one_of(st.tuples(st.sampled_from([None, 0, 1, 2]), st.integers(1, 30)), st.integers(1, 4), st.none()),
        max_size=150,
    ),
)
def test_the_outbox_drops_by_its_rules(bound, steps):
    """Pushes, takes of some records, and acknowledgements of one."""
    outbox, records = Outbox(bound, 8), []
    waiting, begun, dropped, number = [], [], 0, 0
    """``waiting``: (class, message); ``begun``: messages with a number that are not acknowledged."""
    for step in steps:
        if isinstance(step, tuple):
            drop, size = step
            message = number.to_bytes(2, "big") * size
            number += 1
            outbox.push(message, drop)
            waiting.append((drop, message))
            while len(waiting) + len(begun) > bound and any(drop is not None for drop, _ in waiting):
                lowest = min(drop for drop, _ in waiting if drop is not None)
                waiting.remove(next(one for one in waiting if one[0] == lowest))
                dropped += 1
            if outbox.is_overflown:
                assert len(waiting) + len(begun) >= 2 * bound
                break
            assert outbox.is_full == (len(waiting) + len(begun) >= bound)
        elif step is not None:
            taken = outbox.take(step, 25)
            assert len(taken) <= step and sum(map(len, taken)) <= 25
            records += taken
            ends = sum(one[0] < GOES_ON for one in records)
            is_open = bool(records) and records[-1][0] >= GOES_ON
            if not records or ends + is_open > len(begun):
                count = ends + is_open - len(begun)
                begun += [message for _, message in waiting[:count]]
                del waiting[:count]
        elif records:
            outbox.settle(records[:1])
            if records.pop(0)[0] < GOES_ON:
                del begun[0]
        outbox.check_invariants(records)
        assert outbox.undelivered(records) == begun + [message for _, message in waiting]
        assert outbox.dropped == dropped


def test_a_drop_after_a_take_takes_the_oldest_that_waits():
    outbox = Outbox(2, 8)
    outbox.push(b"sent", 0)
    outbox.push(b"waits", 0)
    taken = outbox.take(1, 100)
    outbox.push(b"new", 0)
    outbox.check_invariants(taken)
    assert outbox.undelivered(taken) == [b"sent", b"new"]


def test_dropped_messages_take_no_room_for_ever():
    outbox = Outbox(2, 100)
    outbox.push(b"firm", None)
    for _ in range(10_000):
        outbox.push(b"m", 0)
    outbox.check_invariants([])
    assert len(outbox.waiting) < 300 and outbox.dropped == 9_999


@given(st.binary(min_size=1, max_size=400), st.integers(1, 90))
def test_a_message_is_cut_and_joined(message, most):
    records = cut(message, most)
    assert joined(records) == message
    assert [one[0] >= GOES_ON for one in records] == [True] * (len(records) - 1) + [False]
    assert all(len(one) == most + 2 for one in records[:-1]) and 2 < len(records[-1]) <= most + 2
    data = b"head" + b"".join(records)
    assert split(data, 4, len(data)) == records
    assert split(data, 4, len(data) - 1) == [] == split(data + b"\0", 4, len(data) + 1)


@given(st.integers(0, 2**40), st.integers(-(2**31), 2**31 - 1))
def test_the_number_next_to_one_that_is_known(known, apart):
    assert nearest((known + apart) & LOW, known) == known + apart
