"""Whose datagram is served next under a backlog, against what is promised to each sender."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from overlay.core.admission import KNOWN_UNITS, STRANGER_UNITS, STRANGERS_UNITS, Admission, Turns, share, units
from tests.thorough import examples

KNOWN = [("10.0.0.1", 1), ("10.0.0.1", 2), ("10.0.0.2", 1)]
STRANGERS = [("203.0.113.1", 1), ("203.0.113.1", 2), ("203.0.113.99", 1), ("198.51.100.1", 1)]
SIX = [("2001:db8:0:1::1", 1), ("2001:db8:0:1:ffff::1", 1), ("2001:db8:0:2::1", 1)]


def knows(source):
    return source in KNOWN


def said(count, source, size=1):
    """Datagrams of one sender that can be told apart."""
    return [(b"%d|" % number + b"x" * size, source) for number in range(count)]


def served(admission, most=10**6):
    taken = admission.take(most)
    admission.check_invariants()
    return taken


def test_senders_take_turns_and_each_keeps_its_order():
    admission = Admission(knows)
    busy, other = KNOWN[:2]
    admission.admit([*said(100, busy), *said(2, other)])
    assert [source for _, source in served(admission, 6)] == [busy, other, busy, other, busy, busy]
    admission.admit(said(1, other))
    rest = served(admission)
    assert rest[1] == said(1, other)[0], "who comes again waits for one turn of each that waits"
    assert [data for data, source in rest if source == busy] == [data for data, _ in said(100, busy)][4:]
    assert not admission


def test_strangers_come_after_all_others_and_take_turns_by_block():
    admission = Admission(knows)
    busy, neighbour, far, elsewhere = STRANGERS[0], STRANGERS[2], STRANGERS[3], KNOWN[0]
    admission.admit([*said(5, busy), *said(5, neighbour), *said(2, far), *said(3, elsewhere)])
    order = [source for _, source in served(admission)]
    assert order[:3] == [elsewhere] * 3
    assert order[3:7] == [busy, far, busy, far], "two addresses of one /24 share a turn"


def test_blocks_of_ipv6_are_of_64_bits():
    admission = Admission(knows)
    admission.admit([*said(3, SIX[0]), *said(3, SIX[1]), *said(3, SIX[2])])
    order = [source for _, source in served(admission)]
    assert order[:4] == [SIX[0], SIX[2], SIX[0], SIX[2]]


def test_one_busy_sender_alone_has_all_the_room():
    admission = Admission(knows)
    admission.admit(said(KNOWN_UNITS, KNOWN[0]))
    assert (len(admission), admission.dropped) == (KNOWN_UNITS, 0)
    assert len(served(admission, 32)) == 32


def test_room_is_taken_from_the_longest_only():
    admission = Admission(knows)
    busy, other = KNOWN[:2]
    admission.admit(said(KNOWN_UNITS, busy))
    admission.admit(said(50, other))
    assert admission.dropped > 0
    mine = [data for data, source in served(admission) if source == other]
    assert mine == [data for data, _ in said(50, other)]


def test_a_strangers_flood_leaves_the_room_of_others():
    admission = Admission(knows)
    for _ in range(10):
        admission.admit(said(10_000, STRANGERS[0]))
        admission.check_invariants()
    assert len(admission) == STRANGER_UNITS
    admission.admit([*said(3, STRANGERS[3]), *said(3, KNOWN[0])])
    assert Counter(source for _, source in served(admission, 10))[STRANGERS[3]] == 3


def test_forged_addresses_of_one_block_share_its_turn():
    admission = Admission(knows)
    forged = [(b"x", (f"203.0.113.{host}", port)) for host in range(250) for port in range(1, 21)]
    admission.admit(forged)
    admission.admit(said(10, STRANGERS[3]))
    admission.check_invariants()
    assert len(admission) <= STRANGERS_UNITS
    assert [source for _, source in served(admission, 20)].count(STRANGERS[3]) == 10


@given(st.lists(st.integers(1, 50), min_size=1), st.integers(0, 500))
def test_a_share_is_the_largest_that_fits(sizes, room):
    if sum(sizes) <= room:
        return
    bound = share(sizes, room)
    assert sum(min(size, bound) for size in sizes) <= room
    assert sum(min(size, bound + 1) for size in sizes) > room


class TurnsAgainstModel(RuleBasedStateMachine):
    """Queues with room for 64 units against plain lists: what is in them, who is next, and who may lose."""

    ROOM = 64
    keys = st.sampled_from("abcde")

    def __init__(self):
        super().__init__()
        self.turns = Turns(self.ROOM)
        self.model = {}
        self.made = 0

    @rule(batch=st.lists(st.tuples(keys, st.sampled_from([1, 1, 1, 600, 3000])), min_size=1, max_size=40))
    def put(self, batch):
        datagrams = []
        for key, size in batch:
            self.made += 1
            datagrams.append((b"%d|" % self.made + b"x" * size, key))
        before = {key: list(queue) for key, queue in self.model.items()}
        for datagram in datagrams:
            before.setdefault(datagram[1], []).append(datagram)
        dropped = set(self.turns.put([key for key, _ in batch], datagrams))
        self.model = {key: [one for one in queue if one not in dropped] for key, queue in before.items()}
        if not dropped:
            return
        kept = self.ROOM - self.ROOM // 8
        assert sum(units(queue) for queue in before.values()) > self.ROOM, "nothing is dropped while there is room"
        for key, queue in before.items():
            mine = self.model[key]
            assert mine == queue[: len(mine)], "the newest are lost"
            assert units(queue) > kept // len(before) or mine == queue, "whoever has no more than a share loses nothing"

    @rule(most=st.integers(1, 40))
    def take(self, most):
        waiting = {key: list(queue) for key, queue in self.model.items() if queue}
        taken = self.turns.take(most)
        assert len(taken) == min(most, sum(map(len, waiting.values())))
        turns = Counter(key for _, key in taken)
        for key, queue in waiting.items():
            mine = [one for one in taken if one[1] == key]
            assert mine == queue[: len(mine)], "each sender's come in order"
            if len(mine) < len(queue):
                assert turns[key] + 1 >= max(turns.values()), "no client has two turns more than one that still waits"
            self.model[key] = queue[len(mine) :]

    @invariant()
    def the_same_waits(self):
        self.turns.check_invariants()
        assert sorted(self.turns) == sorted(one for queue in self.model.values() for one in queue)


TestTurns = TurnsAgainstModel.TestCase
TestTurns.settings = settings(max_examples=examples(100), stateful_step_count=30)
