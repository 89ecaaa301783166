"""The view of a network: whatever is lost, repeated or restarted, it ends as the union of the brokers' tables."""

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.view.change_log import ChangeLog, Kind
from overlay.systems.context_broker.view.polls import FIRST_NS, LONGEST_NS, SILENT_AFTER, Poll
from overlay.systems.context_broker.view.view import FULL, REFUSED, SILENT, UNREAD, NetworkView
from overlay.systems.context_broker.wire.messages import key_of
from tests.broker.transcript import INSIDE, STRANGER, WALL, A, B, C, D
from tests.thorough import examples

READER, PROVIDER = C, D
KEY = ("t", "a", "s")


class Network:
    """Brokers that hold what providers sent to each, and a view of them. They are no neighbours."""

    def __init__(self, *addresses, **bounds):
        config = {
            "table_entries": 2,
            "table_bytes": 5000,
            "provider_share": 100,
            "source_share": 100,
            "trusted_networks": INSIDE,
        }
        self.config = BrokerConfig(**config)
        self.now = 0
        self.stamps = count(1)
        self.brokers = {}
        self.view = NetworkView(7, wait_ms=20, **{"most_bytes": 150, **bounds})
        for address in addresses:
            self.start(address)
        self.late = []
        self.keep(*addresses)

    @property
    def wall(self):
        return WALL + self.now // MILLISECOND

    def start(self, address):
        self.now += MILLISECOND
        self.brokers[address] = Broker(self.config, address, Chances.streams(1), WALL * MILLISECOND)
        self.serve(address, b"1|1", PROVIDER)

    def keep(self, *addresses):
        self.view.keep(addresses, self.wall)
        self.check()

    def serve(self, address, data, source):
        self.brokers[address].receive_datagram(data, source, self.now)
        return self.step(address)

    def step(self, address):
        broker = self.brokers[address]
        timer = broker.next_timer()
        if timer is not None and timer <= self.now:
            broker.handle_timer(self.now)
        return [data for data, to in broker.datagrams_to_send() if to in (READER, STRANGER)]

    def change(self, address, stamp, name="a", provider="p", *, begin=0, length=5000, payload="x", withdraws=False):
        begin, end = WALL + begin, WALL + length
        head = f"37|{WALL + stamp}|{provider}" if withdraws else f"2|{WALL + stamp}|{len(payload)}|A|{provider}"
        tail = str(end) if withdraws else f"{begin}|{end}|{payload}"
        self.late += [(address, data) for data in self.serve(address, f"{head}|t|{name}|s|{tail}".encode(), PROVIDER)]

    def wait(self, ms):
        self.now += ms * MILLISECOND
        for address in self.brokers:
            self.late += [(address, data) for data in self.step(address)]

    def ask(self, address, fate="answered"):
        if address not in self.view.brokers:
            return
        question = self.view.ask(address, next(self.stamps))
        if fate == "request lost":
            return
        answers = [(address, data) for data in self.serve(address, question, READER)]
        self.late += answers
        if fate == "answered":
            self.read(answers)

    def read(self, answers):
        for address, data in answers:
            self.view.read(address, data, self.wall)
            self.check()

    def catch_up(self):
        for address in self.view.brokers:
            for _ in range(100):
                self.ask(address)
                if self.view.waits_ms(address):
                    break
            else:
                raise AssertionError("a reader that never ends")
        self.view.expire(self.wall)
        self.check()

    def check(self):
        self.view.check_invariants()

    def seen(self):
        return {
            (entry.key, entry.provider): (entry.record.timestamp, set(entry.holders))
            for entry in self.view.valid(self.wall)
        }

    def held(self):
        """The union of the tables."""
        latest = {}
        for address in self.view.brokers:
            for one in self.brokers[address]._storing.table:
                if one.valid_end > self.wall:
                    latest.setdefault((key_of(one.key), one.provider), []).append((one.timestamp, address, one))
        found = {}
        for name, all_of_them in latest.items():
            stamp = max(at for at, _, _ in all_of_them)
            newest = [(address, one) for at, address, one in all_of_them if at == stamp]
            if all(one.is_valid(self.wall) for _, one in newest):
                found[name] = stamp, {address for address, _ in newest}
        return found

    def replayed(self):
        """What a listener knows that has heard every change."""
        known = {}
        for change in self.view.log.after(0):
            name = change.record.name
            assert (change.before is None) == (name not in known)
            if change.kind is Kind.STORED:
                known[name] = change.record.timestamp
            else:
                del known[name]
        return known


# ---- whatever happens

LENGTHS = [4, 12, 12, 5000]
where = st.sampled_from([A, B])
changed = st.tuples(st.just("change"), where, st.integers(0, 15), st.sampled_from("ab"), st.sampled_from("pq"))
asked = st.tuples(st.just("ask"), where, st.sampled_from(["answered", "answered", "answer lost", "request lost"]))
waited = st.tuples(st.just("wait"), st.sampled_from([1, 3, 25]))
rare = st.one_of(
    st.tuples(st.just("start"), where),
    st.sampled_from([("late",), ("keep", A), ("keep", A, B), ("keep", A, B)]),
)
steps = st.one_of(changed, changed, changed, asked, asked, asked, waited, rare)


@settings(max_examples=examples(120))
@given(st.lists(steps, min_size=20, max_size=50))
def test_the_view_ends_as_the_union_of_the_tables(script):
    network = Network(A, B)
    for how, *values in script:
        if how == "late":
            network.read(network.late)
        elif how == "change":
            stamp = values[1]  # says what is sent with it, as copies of one value are equal
            about = {"begin": stamp % 2 * 3, "length": LENGTHS[stamp % 4], "withdraws": stamp % 5 == 0}
            network.change(*values, **about)
        else:
            getattr(network, how)(*values)
    network.catch_up()
    assert network.view.missing == {}
    assert network.seen() == network.held()
    assert (
        network.seen().items()
        <= {
            name: (stamp, set(entry.holders))
            for name, stamp in network.replayed().items()
            for entry in network.view.about(name[0], network.wall)
            if entry.provider == name[1]
        }.items()
    )
    assert len(network.replayed()) == sum(entry.record.is_held for entry in network.view._entries.values())


# ---- what it reports


def kinds(network):
    return [(change.kind, change.record.timestamp - WALL, change.holders) for change in network.view.log.after(0)]


def test_a_copy_makes_a_holder_and_no_change_and_the_last_copy_expires():
    network = Network(A, B)
    for broker in (A, B):
        network.change(broker, 1, length=100)
    network.catch_up()
    assert network.seen() == {(KEY, "p"): (WALL + 1, {A, B})}
    network.wait(100)
    network.catch_up()
    assert kinds(network) == [(Kind.STORED, 1, (A,)), (Kind.EXPIRED, 1, ())]
    assert len(network.view) == 0


def test_the_latest_wins_and_of_equal_ones_the_withdrawal():
    network = Network(A, B)
    network.change(A, 2)
    network.change(B, 1)
    network.catch_up()
    assert network.seen() == {(KEY, "p"): (WALL + 2, {A})}
    network.change(B, 2, withdraws=True)
    network.catch_up()
    assert network.seen() == {}
    assert [kind for kind, _, _ in kinds(network)] == [Kind.STORED, Kind.WITHDRAWN]


def test_an_older_value_shows_again_when_the_broker_of_the_newer_one_restarts_and_the_last_one_is_dropped():
    network = Network(A, B)
    network.change(A, 2)
    network.change(B, 1)
    network.catch_up()
    network.start(A)
    network.catch_up()
    assert network.seen() == {(KEY, "p"): (WALL + 1, {B})}
    network.keep(A)
    assert kinds(network) == [(Kind.STORED, 2, (A,)), (Kind.STORED, 1, (B,)), (Kind.DROPPED, 1, ())]


def test_entries_of_a_key_come_latest_first():
    network = Network(A, B)
    network.change(A, 1, provider="p")
    network.change(B, 2, provider="q")
    network.catch_up()
    assert [entry.provider for entry in network.view.about(KEY, network.wall)] == ["q", "p"]


def test_it_says_what_is_missing():
    network = Network(A, B)
    assert network.view.missing == {A: UNREAD, B: UNREAD}
    network.catch_up()
    network.view.unheard(B)
    network.view.unheard(STRANGER)
    assert network.view.missing == {B: SILENT}
    network.change(B, 1)
    network.ask(B)
    assert network.view.missing == {}


def test_a_refusal_is_known_as_one():
    network = Network(A, most_bytes=60_000)  # a shorter question would get no answer
    question = network.view.ask(A, network.wall)
    (nack,) = network.serve(A, question, STRANGER)
    assert network.view.is_refusal(A, nack)
    assert not network.view.read(A, nack, network.wall)
    network.view.unheard(A, REFUSED)
    assert network.view.missing == {A: REFUSED}


@pytest.mark.parametrize("bound", [{"most_records": 3}, {"most_payload_bytes": 30}], ids=str)
def test_what_has_no_room_is_left_out_and_said(bound):
    network = Network(A, B, **bound)
    for broker in (A, B):
        for name in "ab":
            network.change(broker, 1, name=name, payload="x" * 10)
    network.catch_up()
    assert network.view.missing == {B: FULL}
    assert network.seen() == {(("t", "a", "s"), "p"): (WALL + 1, {A, B}), (("t", "b", "s"), "p"): (WALL + 1, {A})}


# ---- resuming


def record(stamp, payload=b""):
    network = Network(A)
    network.change(A, stamp, payload=payload.decode() or "x")
    network.catch_up()
    (entry,) = network.view.valid(network.wall)
    return entry.record


def test_a_listener_resumes_by_id_and_is_told_what_it_can_not_get_any_more():
    log, one = ChangeLog(7, most_items=3), record(1)
    for _ in range(5):
        log.add(Kind.STORED, one, None, ())
        log.check_invariants()
    assert [change.sequence for change in log.after(2)] == [3, 4, 5]
    assert [change.sequence for change in log.after(2, most=2)] == [3, 4]
    assert log.after(5) == []
    assert log.after(1) is None
    assert log.after(6) is None
    assert log.number_of(log.id_of(4)) == 4
    assert [log.number_of(text) for text in ("6-4", "7-6", "7-x", "7-", "", "7--1", "7-٤")] == [None] * 7


def test_large_changes_are_forgotten_earlier():
    log, one = ChangeLog(7, most_bytes=3_000), record(1, b"x" * 900)
    for _ in range(5):
        log.add(Kind.STORED, one, None, ())
        log.check_invariants()
    assert log.after(3) is not None
    assert log.after(2) is None


# ---- when it asks


def test_a_question_waits_at_the_broker_and_is_repeated_after_growing_pauses():
    poll, times = Poll(0), []
    assert poll.is_first
    for _ in range(30):
        poll.asked(poll.due, 2_000)
        times.append(poll.due)
    assert [time // MILLISECOND for time in times[:4]] == [2_500, 2_700, 3_100, 3_900]
    assert times[-1] - times[-2] == LONGEST_NS
    assert poll.is_silent
    poll.answered(times[-1])
    assert (poll.is_silent, poll.is_first, poll.due) == (False, True, times[-1])


def test_many_who_are_in_a_hurry_share_the_question_on_its_way_and_do_not_delay_its_repetition():
    poll, sent = Poll(0), 0
    poll.asked(0, 2_000)
    for now in range(1, FIRST_NS, FIRST_NS // 1_000):
        if poll.may_hurry(now):
            poll.asked(now, 0)
            sent += 1
    assert sent == 1
    assert not poll.is_silent
    assert poll.due <= 1 + FIRST_NS
    repeated = poll.due
    poll.asked(repeated, 0)
    assert not poll.may_hurry(repeated + FIRST_NS - 1)
    poll.answered(repeated + 1)
    assert poll.may_hurry(repeated + 1)


def test_a_hurry_asks_a_silent_broker_again_without_longer_pauses():
    poll = Poll(0)
    while not poll.is_silent:
        poll.asked(poll.due, 0)
    due = poll.due
    assert poll.may_hurry(due - 1)
    poll.asked(due - 1, 0)
    assert poll.due == due
    assert not poll.may_hurry(due - 1)


def test_a_closed_port_is_known_at_once_and_asked_less_and_less():
    poll = Poll(0)
    poll.asked(0, 0)
    poll.failed(0)
    assert poll.is_silent
    assert not poll.is_first
    first = poll.due
    poll.asked(first, 0)
    assert not poll.is_first
    assert poll.due - first > first > 0
    assert SILENT_AFTER > 1


# ---- in order


def test_it_is_listed_in_order_while_entries_come_and_go():
    network = Network(A)
    network.config = replace(network.config, table_entries=1_000, table_bytes=10**6)
    network.start(A)
    names = [f"{number:03}" for number in range(200)]
    for part in (names[::2], names[1::2]):
        for name in part:
            network.change(A, 1, name=name)
        network.catch_up()
        listed, place, known = [], (("", "", ""), ""), sorted(one[1] for one, _ in network.seen())
        while place is not None:
            entries, place = network.view.page(place, 7)
            listed += [entry.key[1] for entry in entries]
        assert listed == known
    network.start(A)
    network.change(A, 1, name=names[7])
    network.catch_up()
    assert [entry.key[1] for entry in network.view.page((("", "", ""), ""), 300)[0]] == [names[7]]
    assert network.view.page((KEY, ""), 300) == ([], None)
