"""The feed (35, 36) and withdrawals (37): what is said, and that whoever follows ends up with what the broker holds."""

from itertools import count
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker import feed as feed_module
from overlay.systems.context_broker.broker.broker import UNKNOWN_TIMER, Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.entries import Entry, Replica, Withdrawn
from overlay.systems.context_broker.broker.feeding import IDLE
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.clients.feed_reader import FeedReader
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.extensions import StoreData
from overlay.systems.context_broker.wire.feed_messages import Change, Withdraw
from overlay.systems.context_broker.wire.messages import ContextUpdateAdvertisement, key_of
from tests.broker.test_store import answer
from tests.broker.transcript import INSIDE, STRANGER, WALL, A, C, D, K, Talk
from tests.thorough import examples

FEED, WITHDRAW = "FeedRequest", "Withdraw"


def ask(talk, epoch=0, after=0, wait=0, most=60_000, source=C):
    return talk.hear(source, f"35|{talk.wall}|{epoch}|{after}|{wait}|{most}")


def withdraw(talk, key="room|r1|temp", *, provider="p1", stamp=None, until=0):
    return talk.hear(C, f"37|{talk.wall if stamp is None else stamp}|{provider}|{key}|{until}")


def told(talk, after, following, last, *records):
    text = "".join(f"|{number}|{change}|{len(message)}|{message}" for number, change, message in records)
    return [("C", f"36|{talk.wall}|{WALL}|{after}|{following}|{last}{text}")]


def stored(talk, payload="degC=21.5", key="room|r1|temp"):
    return f"4|{talk.wall}|{len(payload)}|p1|{key}|{talk.wall - 1000}|{talk.wall + 120_000}|{payload}"


# ---- what is said


def test_a_table_is_listed_and_then_followed():
    talk = Talk()
    assert ask(talk) == told(talk, 0, 0, 0)
    one = stored(talk)
    talk.provide()
    assert ask(talk, WALL, 0) == told(talk, 0, 1, 1, (1, "E", one))
    assert ask(talk, WALL, 1) == told(talk, 1, 1, 1)
    talk.wait(5)
    two = stored(talk, "22.0")
    talk.provide(payload="22.0")
    assert ask(talk) == told(talk, 0, 2, 2, (2, "E", two))
    assert talk.stats()["feed_records"] == 2


def test_a_request_waits_for_a_change_or_for_its_end():
    talk = Talk()
    ask(talk)
    assert ask(talk, WALL, 0, wait=100) == []
    asked = talk.wall
    assert talk.stats()["feed_waiting"] == 1
    talk.wait(40)
    one = stored(talk)
    talk.provide()
    record = f"|1|E|{len(one)}|{one}"
    assert talk.wait(0) == [(0, "C", f"36|{asked}|{WALL}|0|1|1{record}")]
    assert ask(talk, WALL, 1, wait=100) == []
    asked = talk.wall
    assert talk.wait(100) == [(100, "C", f"36|{asked}|{WALL}|1|1|1")]
    assert talk.stats()["feed_waiting"] == 0


def test_a_repeated_request_takes_the_place_of_the_first_and_too_many_are_answered_at_once():
    talk = Talk(feed_readers=2, source_share=100)
    ask(talk)
    assert ask(talk, WALL, 0, wait=50) == ask(talk, WALL, 0, wait=50) == []
    assert ask(talk, WALL, 0, wait=50, source=D) == []
    assert ask(talk, WALL, 0, wait=50, source=K)[0][1].endswith(f"|{WALL}|0|0|0")
    assert [event.detail() for event in talk.broker.events()] == [{"limit": "feed readers"}]
    assert [name for _, name, _ in talk.wait(50)] == ["C", "D"]


def test_one_host_has_only_its_share_of_what_waits():
    talk = Talk(feed_readers=4, source_share=50)
    ask(talk)
    for port in (1, 2, 3):
        talk.broker.receive_datagram(f"35|{talk.wall}|{WALL}|0|50|60000".encode(), (C[0], port), talk.now)
    assert [to for _, to in talk.broker.datagrams_to_send()] == [(C[0], 3)]
    assert talk.stats()["feed_waiting"] == 2


def test_what_does_not_fit_comes_with_the_next_question_and_one_record_comes_always():
    talk = Talk()
    for name in "abc":
        talk.provide(f"room|{name}|temp")
    texts = [stored(talk, key=f"room|{name}|temp") for name in "abc"]
    assert ask(talk, most=1) == told(talk, 0, 1, 3, (1, "E", texts[0]))
    assert ask(talk, WALL, 1, most=400) == told(talk, 1, 3, 3, (2, "E", texts[1]), (3, "E", texts[2]))


def test_an_epoch_or_a_number_of_another_life_begins_anew():
    talk = Talk()
    talk.provide()
    one = (1, "E", stored(talk))
    assert ask(talk, WALL - 7, 9, wait=500) == told(talk, 0, 1, 1, one)
    assert ask(talk, WALL, 2) == told(talk, 0, 1, 1, one)
    assert talk.stats()["feed_resets"] == 2


def test_strangers_are_refused_and_brokers_never_ask():
    talk = Talk()
    talk.provide()
    assert ask(talk, source=STRANGER) == [talk.nack(301, FEED, talk.wall, STRANGER)]
    assert talk.hear(C, f"36|1|{WALL}|0|0|0") == []
    assert (talk.stats()["rejected_command"], talk.stats()["rejected_stray"]) == (1, 1)


def test_a_feed_that_nobody_asks_for_is_forgotten():
    talk = Talk()
    talk.provide(valid=(-1, 10**9))
    ask(talk)
    talk.wait(IDLE // MILLISECOND)
    assert talk.broker._storing.table.feed is None
    assert talk.broker.next_timer() is None or talk.broker.next_timer() > talk.now
    assert ask(talk, WALL, 1)[0][1].startswith(f"36|{talk.wall}|{WALL}|0|3|3|3|E|")


# ---- withdrawals


@pytest.mark.parametrize("settings", [{}, {"table": "linear"}, {"arm": "structured"}], ids=str)
def test_a_withdrawal_is_acknowledged_and_the_data_are_served_no_longer(settings):
    talk = Talk(**settings)
    talk.provide(stamp=talk.wall)
    talk.wait(1)
    talk.ask()
    assert withdraw(talk) == [talk.ack(101, WITHDRAW), talk.ack(102, WITHDRAW)]
    assert answer(talk) in ("Status:202", "Status:201")  # a hash table of one broker knows of no other
    stats = talk.stats()
    assert (stats["entries"], stats["withdrawn"], stats["withdrawals"]) == (0, 1, 1)
    talk.wait(120_000)
    assert talk.stats()["withdrawn"] == talk.stats()["bytes"] == 0


def test_a_reader_is_told_of_a_withdrawal():
    talk = Talk()
    talk.provide()
    end = talk.wall + 120_000
    ask(talk)
    withdraw(talk)
    said = f"37|{talk.wall}|p1|room|r1|temp|{end}"
    assert ask(talk, WALL, 1) == told(talk, 1, 2, 2, (2, "W", said))


def test_older_data_lose_against_a_withdrawal_and_newer_ones_win():
    talk = Talk()
    withdraw(talk, stamp=talk.wall, until=talk.wall + 5000)
    assert talk.provide(stamp=talk.wall, payload="as old") == [
        talk.ack(101, "ContextUpdateAdvertisement"),
        talk.ack(102, "ContextUpdateAdvertisement"),
    ]
    assert answer(talk) == "Status:202"
    talk.provide(stamp=talk.wall + 1, payload="newer")
    assert answer(talk) == "newer"
    withdraw(talk, stamp=talk.wall)
    assert answer(talk) == "newer"
    assert talk.stats()["outdated"] == 2


def test_a_withdrawal_leaves_the_data_of_other_providers():
    talk = Talk()
    talk.provide(provider="p2", stamp=talk.wall, payload="other")
    talk.provide(provider="p1", stamp=talk.wall + 1)
    withdraw(talk, stamp=talk.wall + 2)
    assert answer(talk) == "other"


def test_of_unknown_data_a_withdrawal_is_kept_for_the_setting_or_until_what_its_sender_says():
    talk = Talk(withdrawal_ms=300)
    withdraw(talk)
    withdraw(talk, "room|r2|temp", until=talk.wall + 700)
    withdraw(talk, "room|r3|temp", until=talk.wall)
    assert talk.stats()["withdrawn"] == 2
    talk.wait(300)
    assert talk.stats()["withdrawn"] == 1
    talk.wait(400)
    assert (talk.stats()["withdrawn"], talk.stats()["expired"]) == (0, 0)


def test_withdrawals_have_the_bounds_of_updates():
    talk = Talk(table_entries=1)
    talk.provide()
    refused = withdraw(talk, "room|r2|temp")
    assert refused == [talk.ack(101, WITHDRAW), talk.nack(201, WITHDRAW, talk.wall)]
    assert withdraw(talk)[1] == talk.ack(102, WITHDRAW)
    stamp = talk.wall + 30_001
    assert withdraw(talk, stamp=stamp) == [talk.nack(301, WITHDRAW, stamp)]


def test_a_withdrawal_holds_against_what_other_keepers_give_again():
    talk = Talk(arm="structured")
    old = StoreData(talk.wall, "p1", "room", "r1", "temp", talk.wall - 1, talk.wall + 9000, b"old")
    withdraw(talk, stamp=talk.wall)
    talk.hear(D, encode(old))
    assert talk.stats()["entries"] == 0
    assert talk.stats()["withdrawn"] == 1


def test_replicas_of_what_is_withdrawn_are_dropped_where_they_are_refreshed():
    talk = Talk(D, replica_refresh=True)
    talk.provide(stamp=talk.wall)
    talk.hear(D, f"3|{talk.wall}|room|r1|temp|{C[0]}|{C[1]}|{D[0]}|{D[1]}")
    sent = withdraw(talk, stamp=talk.wall)
    assert ("D", f"34|{talk.wall}|p1|room|r1|temp|{talk.wall + 1}") in sent


# ---- whatever the order

names = st.tuples(st.sampled_from("ab"), st.sampled_from("pq"))


def entry_of(how, stamp, name, provider, begin, end):
    if how == "withdraw":
        return Withdrawn.by(Withdraw(stamp, provider, "t", name, "s", 0), end)
    kind = Replica if how == "replica" else Entry
    return kind.of(ContextUpdateAdvertisement(stamp, "U", provider, "t", name, "s", begin, end, b"%d" % stamp))


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.sampled_from(["store", "replica", "withdraw"]), st.integers(0, 5), names),
        unique_by=lambda one: (one[0] == "withdraw", *one[1:]),
        max_size=8,
    ).flatmap(lambda steps: st.tuples(st.permutations(steps), st.permutations(steps))),
    st.sampled_from(["indexed", "linear"]),
)
def test_the_last_writer_wins_in_any_order(orders, kind):
    ends = []
    for steps in orders:
        table = Table(BrokerConfig(table=kind))
        for how, stamp, (name, provider) in steps:
            table.store(entry_of(how, stamp, name, provider, 0, 100), 1)
            table.check_invariants()
        ends.append({(entry.key, entry.provider, entry.response) for entry in table})
        for name in "ab":
            about = [one for one in steps if one[2][0] == name]
            latest = {p: max((s, how == "withdraw") for how, s, (_, q) in about if p == q) for *_, (_, p) in about}
            served = [stamp for stamp, is_withdrawn in latest.values() if not is_withdrawn]
            found = table.find(b"t|%b|s" % name.encode(), 1)
            assert (found.timestamp if found else None) == max(served, default=None)
    assert ends[0] == ends[1]


# ---- whoever follows


class Follower:
    """A broker with small bounds that restarts now and then, and a reader behind a bad link."""

    def __init__(self, kind):
        self.config = BrokerConfig(
            table=kind, table_entries=2, table_bytes=900, trusted_networks=INSIDE, provider_share=100, source_share=100
        )
        self.now = 0
        self.stamps = count(1)
        self.late = []
        self.reader = FeedReader(wait_ms=20, most_bytes=150)
        self.start()

    def start(self):
        self.now += MILLISECOND
        self.broker = Broker(self.config, A, Chances.streams(1), WALL * MILLISECOND)
        self.serve(b"1|1", D)

    @property
    def wall(self):
        return WALL + self.now // MILLISECOND

    def serve(self, data, source):
        self.broker.receive_datagram(data, source, self.now)
        return self.step()

    def step(self):
        timer = self.broker.next_timer()
        if timer is not None and timer <= self.now:
            self.broker.handle_timer(self.now)
        self.broker.check_invariants()
        return [data for data, to in self.broker.datagrams_to_send() if to == C]

    def change(self, how, stamp, name, provider, begin, length):
        begin, end = self.wall + begin, self.wall + begin + length
        if how == "replica":
            self.broker._storing.store(entry_of(how, WALL + stamp, name, provider, begin, end), self.now)
            self.broker._next_timer = UNKNOWN_TIMER
        elif how == "store":
            self.late += self.serve(f"2|{WALL + stamp}|1|A|{provider}|t|{name}|s|{begin}|{end}|x".encode(), D)
        else:
            self.late += self.serve(f"37|{WALL + stamp}|{provider}|t|{name}|s|{end}".encode(), D)
        self.late += self.step()

    def wait(self, ms):
        self.now += ms * MILLISECOND
        self.late += self.step()

    def ask(self, fate):
        request = self.reader.ask(next(self.stamps))
        if fate != "request lost":
            answers = self.serve(request, C)
            self.late += answers
            if fate == "answered":
                self.read(answers)

    def read(self, answers):
        for data in answers:
            self.reader.read(data, self.wall)
            self.reader.check_invariants()

    def catch_up(self):
        for _ in range(100):
            self.ask("answered")
            if not self.reader.has_more:
                return
        raise AssertionError("a reader that never ends")

    def held(self):
        return {
            (key_of(one.key), one.provider): (one.timestamp, one.payload)
            for one in self.broker._storing.table
            if one.is_valid(self.wall)
        }


changes = st.tuples(
    st.just("change"),
    st.sampled_from(["store", "replica", "withdraw"]),
    st.integers(0, 9),
    st.sampled_from("ab"),
    st.sampled_from("pq"),
    st.sampled_from([0, 0, 0, 4]),
    st.sampled_from([3, 20, 1000]),
)
asked = st.tuples(st.just("ask"), st.sampled_from(["answered", "answered", "answer lost", "request lost"]))
waited = st.tuples(st.just("wait"), st.sampled_from([1, 3, 10, 25]))
rare = st.sampled_from([("late",), ("start",), ("wait", IDLE // MILLISECOND)])
steps = st.one_of(changes, changes, changes, asked, asked, asked, waited, rare)


@settings(max_examples=examples(400))
@given(st.sampled_from(["indexed", "linear"]), st.lists(steps, min_size=30, max_size=60))
def test_a_reader_ends_with_what_the_broker_holds(kind, script):
    with patch.object(feed_module, "MOST_GONE", 2), patch.object(feed_module, "SPARE_PLACES", 3):
        follower = Follower(kind)
        for how, *values in script:
            if how == "late":
                follower.read(follower.late)
            else:
                getattr(follower, how)(*values)
        follower.catch_up()
        valid = {one.name: (one.timestamp, one.payload) for one in follower.reader.valid(follower.wall)}
        assert valid == follower.held()


def test_a_reader_that_missed_a_forgotten_record_restarts():
    with patch.object(feed_module, "MOST_GONE", 2):
        follower = Follower("indexed")
        follower.change("replica", 1, "a", "p", 0, 5000)
        follower.catch_up()
        for name in "cd":  # each leaves a record that it is gone, and they take the place of the replica, which has one
            follower.change("store", 1, name, "q", 0, 5000)
            follower.change("store", 2, name, "q", 0, 10)
        follower.wait(10)
        follower.catch_up()
        assert follower.broker.statistics(follower.now)["feed_resets"] == 1
        assert list(follower.reader.valid(follower.wall)) == []


def test_an_answer_that_comes_late_or_twice_changes_nothing():
    follower = Follower("indexed")
    follower.change("store", 1, "a", "p", 0, 5000)
    follower.ask("answer lost")
    (first,) = follower.late[-1:]
    follower.change("withdraw", 2, "a", "p", 0, 5000)
    follower.catch_up()
    assert follower.reader.read(first, follower.wall) == []
    assert not follower.reader.is_answer(first)
    assert list(follower.reader.valid(follower.wall)) == []


def test_a_reader_reports_what_a_broker_lost_when_it_started_anew():
    follower = Follower("indexed")
    follower.change("store", 1, "a", "p", 0, 5000)
    follower.change("store", 1, "b", "p", 0, 5000)
    follower.catch_up()
    follower.start()
    follower.change("store", 2, "b", "p", 0, 5000)
    changes = follower.reader.read(follower.serve(follower.reader.ask(99), C)[0], follower.wall)
    assert [(one.change, one.key[1]) for one in changes] == [(Change.ENTRY, "b"), (Change.DROPPED, "a")]
