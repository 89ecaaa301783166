"""Replicas as transcripts: who is asked to keep one, and how a newer value follows it (docs/extensions.md, 33)."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.refresh import Leases, Replicas
from overlay.systems.context_broker.broker.replication import REPLICATIONS, slots_between
from overlay.systems.context_broker.wire.messages import ContextUpdateAdvertisement
from tests.broker.transcript import NAMES, STRANGER, WALL, A, B, C, D, E, Talk, hop


def marked(replication, hops, source, **changed):
    """The brokers that A's answer asks to keep a replica."""
    talk = Talk(source, replication=replication, **changed)
    talk.provide()
    fields = talk.ask(source=source, hops=hops)[0][1].split("|")[10:]
    slots, brokers = [i for i, field in enumerate(fields) if field == "*"], [*hops[1:], source]
    return [NAMES[brokers[sum(field != "*" for field in fields[:i]) // 2 - 1]] for i in slots]


@pytest.mark.parametrize(
    ("replication", "index", "expected"),
    [
        ("none", 9, []),
        ("random", 0, []),
        ("random", 9, ["D", "E", "B"]),
        ("path", 0, ["D", "E", "B"]),
        ("requester", 0, ["D"]),
    ],
)
def test_a_strategy_chooses_among_those_on_the_way(replication, index, expected):
    assert marked(replication, [C, D, E], B, replication_index=index) == expected


def test_the_consumers_own_broker_is_the_one_asked_first():
    assert marked("requester", [C], B) == ["B"]
    assert marked("requester", [C, D, B, E], B) == ["D"]


@pytest.mark.parametrize("replication", REPLICATIONS)
def test_short_lived_data_is_replicated_by_none(replication):
    assert marked(replication, [C, D], B, replication_threshold_ms=10**9) == []


@pytest.mark.parametrize("replication", REPLICATIONS)
def test_every_strategy_chooses_slots_that_there_are_and_never_the_answering_broker(replication):
    slots = slots_between((C, B, A, D, B), E, A)
    assert slots == {0: B, 2: D, 4: E}
    for seed in range(20):
        chosen = list(REPLICATIONS[replication].choose(tuple(slots), seed % 4, Stream(seed)))
        assert set(chosen) <= set(slots)
        assert len(chosen) == len(set(chosen))


# ---- refresh


def refresh(talk, payload, *, provider="p1", stamp=None, valid=(-1000, 120_000)):
    stamp = talk.wall if stamp is None else stamp
    begin, end = (talk.wall + edge for edge in valid)
    return f"33|{stamp}|{len(payload)}|{provider}|room|r1|temp|{begin}|{end}|{payload}"


def confirm(talk, *, stored=WALL, stamp=None, provider="p1"):
    """What the provider's broker says now of the value that it was given at ``stored``."""
    return f"34|{talk.wall if stamp is None else stamp}|{provider}|room|r1|temp|{stored}"


def holder(**changed):
    """A, which has data and had D and B keep a replica."""
    talk = Talk(B, replica_refresh=True, replication="path", **changed)
    talk.provide()
    talk.ask(source=B, hops=[C, D])
    talk.wait(10)
    return talk


def replica(**changed):
    """A, which keeps a replica that B marked when D's consumer asked."""
    talk = Talk(B, **{"replica_refresh": True, **changed})
    (forwarded,) = talk.ask(source=D, hops=[C])
    assert forwarded[0] == "B"
    talk.hear(B, f"4|{talk.wall}|9|p1|room|r1|temp|{WALL - 1000}|{WALL + 120_000}|degC=21.5{hop(C, D)}|*")
    assert talk.stats()["replicas"] == 1
    talk.wait(10)
    return talk


def value(talk):
    """What A answers with."""
    return talk.ask(source=E)[1][1].split("|")[-1]


def test_an_update_is_told_to_those_that_were_asked_to_keep_a_replica():
    talk = holder()
    sent = talk.provide(payload="degC=22.5")
    assert sent == [
        talk.ack(101, "ContextUpdateAdvertisement"),
        ("D", refresh(talk, "degC=22.5")),
        ("B", refresh(talk, "degC=22.5")),
        talk.ack(102, "ContextUpdateAdvertisement"),
    ]
    assert talk.stats()["refreshes_sent"] == 2


def test_nobody_is_told_of_an_older_value_or_of_another_provider_s():
    talk = holder()
    assert not [text for _, text in talk.provide(payload="old", stamp=WALL - 5000) if text.startswith("33|")]
    assert not [text for _, text in talk.provide(payload="new", provider="p2") if text.startswith("33|")]


def test_nobody_is_told_after_the_replicas_have_expired():
    talk = holder()
    talk.wait(120_000)
    assert not [text for _, text in talk.provide(payload="new") if text.startswith("33|")]
    assert len(talk.broker._storing.replicas) == 0


def test_nobody_is_remembered_where_it_is_switched_off():
    talk = Talk(B, replication="path")
    talk.provide()
    talk.ask(source=B, hops=[C, D])
    talk.wait(10)
    assert [name for name, _ in talk.provide(payload="new")] == ["C", "C"]


def test_a_replica_takes_the_newer_value_and_answers_nobody():
    talk = replica()
    assert talk.hear(B, refresh(talk, "degC=22.5")) == []
    assert value(talk) == "degC=22.5"
    assert talk.hear(B, refresh(talk, "older", stamp=WALL - 1)) == []
    assert talk.hear(B, refresh(talk, "same time", stamp=talk.wall)) == []
    assert value(talk) == "degC=22.5"
    assert talk.stats()["refreshed"] == 1


def test_a_refreshed_replica_tells_those_that_it_had_keep_one_and_each_value_once():
    talk = replica(replication="requester")
    talk.hear(B, confirm(talk))
    talk.ask(source=B, hops=[C, E])
    assert talk.hear(B, refresh(talk, "degC=22.5")) == [("E", refresh(talk, "degC=22.5"))]
    assert talk.hear(B, refresh(talk, "degC=22.5")) == []


def test_what_is_no_replica_here_is_never_made_one():
    talk = replica()
    for text in (refresh(talk, "x", provider="p2"), refresh(talk, "x").replace("|r1|", "|r2|")):
        assert talk.hear(B, text) == []
    assert talk.stats()["entries"] == 1
    talk.wait(120_000)
    assert talk.hear(B, refresh(talk, "too late")) == []
    assert (talk.stats()["entries"], talk.stats()["refreshed"], talk.stats()["rejected_stray"]) == (0, 0, 3)


def test_a_provider_s_own_data_is_not_overwritten_by_a_refresh():
    talk = Talk(B, replica_refresh=True)
    talk.provide()
    talk.wait(10)
    assert talk.hear(B, refresh(talk, "forged")) == []
    assert value(talk) == "degC=21.5"


def test_a_stamp_from_the_future_and_a_stranger_are_refused():
    talk = replica()
    talk.hear(B, refresh(talk, "x", stamp=talk.wall + 30_001))
    assert talk.hear(STRANGER, refresh(talk, "x")) == []
    assert value(talk) == "degC=21.5"
    assert (talk.stats()["rejected_stray"], talk.stats()["rejected_command"]) == (1, 1)


def test_a_forged_path_draws_no_more_than_three_times_its_bytes():
    """The hops of a request may be forged: an update must not flood the addresses in them."""
    talk = Talk(B, replica_refresh=True, replication="path")
    talk.provide()
    talk.ask(source=B, hops=[C, STRANGER])
    talk.wait(10)
    assert "STRANGER" not in [name for name, _ in talk.provide(payload="x" * 1000)]
    assert talk.stats()["withheld"] == 1


def test_who_has_it_switched_off_says_that_it_does_not_know_it():
    talk = replica(replica_refresh=False)
    assert talk.hear(B, refresh(talk, "x", stamp=77)) == [talk.nack(301, "Unknown", 77, B)]


# ---- leases


def test_an_original_that_does_not_change_is_confirmed_four_times_in_a_lease_to_those_that_keep_a_replica():
    talk = holder(replica_lease_ms=4000)
    sent = talk.wait(2000)
    assert [(at, name) for at, name, _ in sent] == [(990, "D"), (990, "B"), (1990, "D"), (1990, "B")]
    assert sent[0][2] == f"34|{WALL + 1000}|p1|room|r1|temp|{WALL}"
    assert talk.stats()["confirms_sent"] == 4


def test_an_update_counts_as_a_confirmation_and_an_expired_original_is_confirmed_no_more():
    talk = holder(replica_lease_ms=4000)
    talk.wait(900)
    talk.provide(payload="degC=22.5", valid=(0, 70_000))
    assert [at for at, _, _ in talk.wait(1500)] == [1000, 1000]
    talk.wait(70_000)
    assert talk.wait(10_000) == []


def test_a_replica_is_served_for_one_lease_and_for_another_whenever_it_is_confirmed():
    talk = replica(replica_lease_ms=4000)
    talk.wait(3000)
    assert talk.hear(B, confirm(talk)) == []
    talk.wait(3990)
    assert value(talk) == "degC=21.5"
    talk.wait(10)
    assert talk.ask(source=E)[1][0] == "B", "dropped, so that the value is looked for again"
    assert (talk.stats()["entries"], talk.stats()["replicas_lapsed"]) == (0, 1)


def test_a_broker_that_was_stopped_serves_no_replica_whose_lease_ended_meanwhile():
    talk = replica(replica_lease_ms=4000)
    talk.now += 5_000 * MILLISECOND  # no timer is handled before what waits at its socket
    assert talk.ask(source=E)[1][0] == "B", "the value is looked for again"
    assert talk.stats()["replicas_lapsed"] == 1


def test_a_step_of_the_clock_makes_no_lease_longer():
    talk = replica(replica_lease_ms=4000)
    talk.broker.set_wall_clock((WALL - 3_600_000) * 1_000_000)
    talk.wait(4000)
    assert talk.stats()["entries"] == 0


def test_a_replica_that_missed_an_update_is_dropped_by_the_next_confirmation():
    talk = replica()
    assert talk.hear(B, confirm(talk, stored=WALL + 5)) == []
    assert (talk.stats()["entries"], talk.stats()["replicas_lapsed"]) == (0, 1)


def test_confirmations_go_down_the_tree_each_once_even_where_it_is_a_circle():
    talk = replica(replication="requester")
    said = confirm(talk)
    talk.hear(B, said)
    talk.ask(source=B, hops=[C, E])
    talk.wait(1000)
    assert talk.hear(B, said) == [], "an old one, come round"
    said = confirm(talk)
    assert talk.hear(B, said) == [("E", said)]
    assert talk.hear(E, said) == []


def test_a_replica_that_was_never_confirmed_has_nobody_keep_one():
    """Else each of a row of brokers could take it at the end of the last one's lease: it would age without bound."""
    talk = replica(replication="path")
    assert "*" not in talk.ask(source=B, hops=[C, E])[0][1]
    talk.hear(B, confirm(talk))
    assert "*" in talk.ask(source=B, hops=[C, D])[0][1]


def test_a_confirmation_of_what_is_no_replica_from_a_stranger_or_from_the_future_changes_nothing():
    talk = replica(replica_lease_ms=4000)
    talk.hear(B, confirm(talk, provider="p2"))
    talk.hear(B, confirm(talk, stamp=talk.wall + 30_001))
    assert talk.hear(STRANGER, confirm(talk)) == []
    assert (talk.stats()["rejected_stray"], talk.stats()["rejected_command"]) == (2, 1)
    talk.wait(4000)
    assert talk.stats()["entries"] == 0
    mine = holder()
    mine.hear(B, confirm(mine, stored=WALL + 5))
    assert mine.stats()["entries"] == 1, "what its provider gave it"


def test_the_latest_keepers_of_an_entry_are_remembered():
    replicas = Replicas(gap=10)
    entry = Book.entry("a", WALL + 1000)
    for port in range(1, 101):
        replicas.note(entry, [("10.0.0.9", port)], WALL, 0)
    assert [port for _, port in replicas.renew(entry, WALL, 0)] == list(range(37, 101))


def test_leases_of_replicas_that_are_gone_are_forgotten():
    talk = replica(replica_lease_ms=3_600_000, replication_threshold_ms=0)
    for number in range(300):
        stamp = talk.wall + 1000 + number
        talk.hear(D, f"3|{stamp}|room|s{number}|temp{hop(C)}")
        talk.hear(B, f"4|{talk.wall}|1|p1|room|s{number}|temp|{talk.wall - 9}|{talk.wall + 50}|x{hop(C, D)}|*")
        talk.wait(100)
    assert talk.stats()["replicas"] == 301
    assert len(talk.broker._storing.leases) < 100


class LeaseBook(RuleBasedStateMachine):
    """Whatever is said of which replica when: each ends one lease after the last that counted."""

    def __init__(self) -> None:
        super().__init__()
        self.leases = Leases(10)
        self.now = 0
        self.ends: dict[tuple, int] = {}
        self.latest: dict[tuple, int] = {}

    names = st.sampled_from([(b"room|a|temp", "p1"), (b"room|b|temp", "p1"), (b"room|a|temp", "p2")])

    @rule(name=names)
    def begin(self, name: tuple) -> None:
        self.leases.begin(name, self.now)
        self.ends[name], self.latest[name] = self.now + 10, 0
        assert not self.leases.is_confirmed(name)

    @rule(name=names)
    def refresh(self, name: tuple) -> None:
        self.leases.refresh(name, self.now)
        self.ends[name] = self.now + 10
        assert self.leases.is_confirmed(name)

    @rule(name=names, stamp=st.integers(1, 6))
    def confirm(self, name: tuple, stamp: int) -> None:
        is_news = stamp > self.latest.get(name, 0)
        assert self.leases.confirm(name, stamp, self.now) is is_news
        if is_news:
            self.ends[name], self.latest[name] = self.now + 10, stamp

    @rule(by=st.integers(1, 12))
    def pass_time(self, by: int) -> None:
        self.now += by
        over = {name for name, end in self.ends.items() if end <= self.now}
        assert set(self.leases.due(self.now)) == over
        for name in over:
            del self.ends[name]
            self.latest.pop(name, None)

    @invariant()
    def is_whole(self) -> None:
        self.leases.check_invariants()
        assert len(self.leases) == len(self.ends)
        assert self.leases.next_timer() == min(self.ends.values(), default=None)


TestLeaseBook = LeaseBook.TestCase
TestLeaseBook.settings = settings(max_examples=40, stateful_step_count=30)


class Book(RuleBasedStateMachine):
    """The bounded book of who keeps what, whatever is noted when."""

    def __init__(self) -> None:
        super().__init__()
        self.replicas = Replicas(gap=10, most=12, most_of_one=5)
        self.wall, self.now = WALL, 0
        self.told: dict[str, dict] = {}

    @staticmethod
    def entry(name: str, end: int) -> Entry:
        return Entry.of(ContextUpdateAdvertisement(WALL, "A", "p1", "room", name, "temp", 0, end, b"x"))

    @rule(name=st.sampled_from("abcd"), keepers=st.lists(st.integers(1, 9), max_size=7), lives=st.integers(1, 50))
    def note(self, name: str, keepers: list[int], lives: int) -> None:
        self.replicas.note(
            self.entry(name, self.wall + lives), [("10.0.0.9", port) for port in keepers], self.wall, self.now
        )

    @rule(name=st.sampled_from("abcd"), lives=st.integers(1, 50))
    def renew(self, name: str, lives: int) -> None:
        told = self.replicas.renew(self.entry(name, self.wall + lives), self.wall, self.now)
        assert len(told) == len(set(told)) <= 5
        assert self.replicas.renew(self.entry(name, self.wall + lives), self.wall + lives, self.now) == ()

    @rule(by=st.integers(1, 40))
    def pass_time(self, by: int) -> None:
        self.wall += by
        self.now += by
        assert len(list(self.replicas.due(self.now))) <= 4
        timer = self.replicas.next_timer()
        assert timer is None or self.now < timer <= self.now + 10

    @invariant()
    def is_whole(self) -> None:
        self.replicas.check_invariants()
        assert len(self.replicas) <= 12


TestBook = Book.TestCase
TestBook.settings = settings(max_examples=40, stateful_step_count=20)
