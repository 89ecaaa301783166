"""Replicas as transcripts: who is asked to keep one, and how a newer value follows it (docs/extensions.md, 33)."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from overlay.broker.messages import ContextUpdateAdvertisement
from overlay.broker.refresh import Replicas
from overlay.broker.replication import REPLICATIONS, slots_between
from overlay.broker.table import Entry
from overlay.chance import Stream
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
    """The hops of a request are anybody's word: an update must not flood whom they name."""
    talk = Talk(B, replica_refresh=True, replication="path")
    talk.provide()
    talk.ask(source=B, hops=[C, STRANGER])
    talk.wait(10)
    assert "STRANGER" not in [name for name, _ in talk.provide(payload="x" * 1000)]
    assert talk.stats()["withheld"] == 1


def test_who_has_it_switched_off_says_that_it_does_not_know_it():
    talk = replica(replica_refresh=False)
    assert talk.hear(B, refresh(talk, "x", stamp=77)) == [talk.nack(301, "Unknown", 77, B)]


class Book(RuleBasedStateMachine):
    """The bounded book of who keeps what, whatever is noted when."""

    def __init__(self) -> None:
        super().__init__()
        self.replicas = Replicas(most=12, most_of_one=5)
        self.wall = WALL
        self.told: dict[str, dict] = {}

    @staticmethod
    def entry(name: str, end: int) -> Entry:
        return Entry.of(ContextUpdateAdvertisement(WALL, "A", "p1", "room", name, "temp", 0, end, b"x"))

    @rule(name=st.sampled_from("abcd"), keepers=st.lists(st.integers(1, 9), max_size=7), lives=st.integers(1, 50))
    def note(self, name: str, keepers: list[int], lives: int) -> None:
        self.replicas.note(self.entry(name, self.wall + lives), [("10.0.0.9", port) for port in keepers], self.wall)

    @rule(name=st.sampled_from("abcd"), lives=st.integers(1, 50))
    def renew(self, name: str, lives: int) -> None:
        told = list(self.replicas.renew(self.entry(name, self.wall + lives), self.wall))
        assert len(told) == len(set(told)) <= 5
        assert list(self.replicas.renew(self.entry(name, self.wall + lives), self.wall + lives)) == []

    @rule(by=st.integers(1, 40))
    def pass_time(self, by: int) -> None:
        self.wall += by

    @invariant()
    def is_whole(self) -> None:
        self.replicas.check_invariants()
        assert len(self.replicas) <= 12


TestBook = Book.TestCase
TestBook.settings = settings(max_examples=40, stateful_step_count=20)
