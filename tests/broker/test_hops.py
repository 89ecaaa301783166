"""What brokers say to each other is acknowledged, sent again and taken in once; a broker that does not know how gets it
as it is."""

import re

from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker import hops
from overlay.systems.context_broker.broker.hops import (
    LEAST_RTO,
    LONGEST_RTO,
    MOST_OPEN_TO_ONE,
    PATIENCE,
    WINDOW,
    RoundTrip,
    Window,
)
from tests.broker.transcript import INSIDE, STRANGER, WALL, B, C, D, E, Talk, hop

SEQUENCE = 1000 * WALL
QUESTION = f"room|r1|temp{hop(C)}"


def reliable(*neighbours, **settings):
    return Talk(*neighbours, hop_ack=True, **settings)


def inner(text):
    """The sequence number and the message of a 22."""
    found = re.fullmatch(r"22\|\d+\|(\d+)\|(.*)", text, re.DOTALL)
    return int(found[1]), found[2]


def acknowledge(talk, source, text):
    _, stamp, sequence, _ = text.split("|", 3)
    return talk.hear(source, f"23|{stamp}|{sequence}")


def unknown(talk, stamp, name):
    return name, talk.nack(301, "Unknown", stamp, {"B": B, "STRANGER": STRANGER}[name])[1]


# ---- sending


def test_a_request_to_a_neighbour_is_wrapped_and_what_goes_to_the_client_is_not():
    talk = reliable(B)
    ack, (name, wrapped) = talk.ask(stamp=5)
    assert ack == talk.ack(101, "ContextRequest")
    assert (name, inner(wrapped)) == ("B", (SEQUENCE, f"3|5|{QUESTION}"))
    acknowledge(talk, B, wrapped)
    assert talk.wait(5_000) == [], "nothing is sent again"
    assert talk.hear(B, f"6|5|NACK|Status:202|Operation ContextRequest|Requested by {C[0]}:{C[1]}{hop(C)}") == [
        talk.nack(202, "ContextRequest", 5)
    ]


def test_what_is_not_acknowledged_is_sent_again_ever_later_and_then_given_up():
    talk = reliable(B, hop_tries=4, pending_deadline_ms=20_000)
    (first,) = [text for name, text in talk.ask() if name == "B"]
    sent = talk.wait(10_000)
    assert [after for after, _, _ in sent] == [200, 600, 1400]
    assert {inner(text) for _, _, text in sent} == {inner(first)}, "the same number and the same message"
    assert len({text.split("|")[1] for _, _, text in sent} | {first.split("|")[1]}) == 4, "each with its own timestamp"
    assert (talk.stats()["hop_repeats"], talk.stats()["hop_lost"]) == (3, 1)
    assert talk.stats()["pending"] == 1, "a missing acknowledgement does not prove that no broker has the data"


def test_a_search_goes_on_to_another_neighbour_and_still_takes_the_answer_of_the_first():
    talk = reliable(B, D, hop_tries=2, walk_policy="backtrack")
    first = next(name for name, text in talk.ask(stamp=5) if text.startswith("22"))
    names = [name for _, name, _ in talk.wait(1_000)]
    assert first in names
    assert ({"B", "D"} - {first}).pop() in names
    answer = f"4|{talk.wall}|4|p1|room|r1|temp|{talk.wall - 1000}|{talk.wall + 120_000}|x=11"
    assert talk.hear({"B": B, "D": D}[first], answer + hop(C)) == [("C", answer), talk.ack(102, "ContextRequest")]


def test_a_walk_that_nobody_remembers_does_not_fork():
    talk = reliable(B, D, hop_tries=2, walk_policy="avoid")
    first = next(name for name, text in talk.ask() if text.startswith("22"))
    assert [name for _, name, _ in talk.wait(9_000)] == [first]
    assert talk.stats()["pending"] == 1


def test_a_not_found_is_proved_only_when_every_branch_has_spoken():
    talk = reliable(B, D, walk_policy="backtrack", hop_tries=1)
    first = next(name for name, text in talk.ask(stamp=5) if text.startswith("22"))
    silent, speaking = (B, D) if first == "B" else (D, B)
    ((_, name, _), *_) = talk.wait(250)
    assert name == {B: "B", D: "D"}[speaking]
    refusal = f"6|5|NACK|Status:202|Operation ContextRequest|Requested by {C[0]}:{C[1]}{hop(C)}"
    assert talk.hear(speaking, refusal) == []
    assert talk.hear(silent, refusal) == [talk.nack(202, "ContextRequest", 5)]


def test_the_timer_follows_the_measured_round_trip():
    talk = reliable(B)
    for stamp in range(5, 25):
        (wrapped,) = [text for name, text in talk.ask(stamp=stamp, key=f"room|r{stamp}|temp") if name == "B"]
        talk.wait(30)
        acknowledge(talk, B, wrapped)
    talk.ask(stamp=30)
    assert 40 <= talk.wait(500)[0][0] <= 60


def test_an_acknowledgement_of_a_later_try_measures_that_try():
    talk = reliable(B)
    talk.ask()
    ((_, _, again),) = talk.wait(200)
    talk.wait(8)
    acknowledge(talk, B, again)
    talk.ask(key="room|r2|temp")
    assert talk.wait(150)[0][0] == 24, "8 ms and four times the spread of 4 ms"


def test_the_timer_grows_while_nothing_comes():
    talk = reliable(B, hop_tries=1)
    for stamp, rto in ((5, 200), (6, 400), (7, 800)):
        (wrapped,) = [text for name, text in talk.ask(stamp=stamp, key=f"room|r{stamp}|temp") if name == "B"]
        talk.wait(rto - 1)
        assert talk.stats()["hop_lost"] == stamp - 5
        talk.wait(1)
        assert talk.stats()["hop_lost"] == stamp - 4
    talk.ask(stamp=8)
    assert acknowledge(talk, B, wrapped) == [], "too late to say anything"


def test_round_trips_stay_between_their_bounds():
    short, long = RoundTrip(), RoundTrip()
    for _ in range(50):
        short.note(1)
        long.note(60_000 * MILLISECOND)
    assert short.rto == LEAST_RTO
    assert long.rto == LONGEST_RTO


def test_an_acknowledgement_that_belongs_to_nothing_is_counted_and_never_answered():
    talk = reliable(B)
    assert talk.hear(B, "23|5|77") == []
    (wrapped,) = [text for name, text in talk.ask() if name == "B"]
    assert acknowledge(talk, D, wrapped) == [], "that was another broker's"
    acknowledge(talk, B, wrapped)
    acknowledge(talk, B, wrapped)
    assert talk.stats()["rejected_stray"] == 3


def test_numbers_go_on_rising_after_a_restart_however_much_was_sent():
    before, after = reliable(B), reliable(B)
    numbers = [inner(text)[0] for i in range(500) for _, text in before.ask(key=f"a|{i}|c") if text[:2] == "22"]
    assert numbers == list(range(SEQUENCE, SEQUENCE + 500))
    after.wait(1)
    assert inner(after.ask()[1][1])[0] > numbers[-1]


def test_what_does_not_fit_with_its_header_goes_as_it_is():
    talk = reliable(B)
    talk.provide(payload="x" * 60_000)
    path = [("10.1.0.1", 10000 + i) for i in range(361)]
    few, many = (talk.ask(source=B, hops=[*path, C], stamp=7) for path in (path[:100], path))
    assert few[0][1].startswith("22|")
    assert many[0][1].startswith("4|")
    assert len(many[0][1]) > 65_460
    assert talk.stats()["hop_plain"] == 1


def test_no_more_is_kept_for_one_neighbour_than_its_share():
    talk = reliable(B)
    sent = [text for i in range(MOST_OPEN_TO_ONE + 5) for name, text in talk.ask(key=f"a|{i}|c") if name == "B"]
    assert [text[:2] for text in sent] == ["22"] * MOST_OPEN_TO_ONE + ["3|"] * 5


# ---- receiving


def test_what_is_wrapped_is_acknowledged_each_time_and_dealt_with_once():
    talk = reliable(B, D)
    wrapped = f"22|9|77|3|5|{QUESTION}"
    ack, (name, on) = talk.hear(B, wrapped)
    assert ack == ("B", "23|9|77")
    assert (name, inner(on)[1]) == ("D", f"3|5|room|r1|temp{hop(C, B)}")
    assert talk.hear(B, wrapped.replace("22|9", "22|10")) == [("B", "23|10|77")]
    assert talk.stats()["hop_duplicates"] == 1
    assert talk.stats()["forwards"] == 1
    ack, (name, answer) = talk.hear(
        D, f"22|9|77|6|5|NACK|Status:202|Operation ContextRequest|Requested by {C[0]}:{C[1]}{hop(C, B)}"
    )
    assert ack == ("D", "23|9|77"), "each broker counts for itself"
    assert (name, inner(answer)[1][:2]) == ("B", "6|")


def test_only_what_brokers_say_about_queries_may_be_wrapped():
    talk = reliable(B)
    for text in (
        "3|5|room|r1|temp",
        "32|5|room|r1|temp",
        "1|5",
        "7|5|*",
        f"8|5|{E[0]}:{E[1]}|*",
        "23|5|77",
        f"22|5|78|3|5|{QUESTION}",
        "4|5|nonsense",
        "6|5|NACK|Status:202|Operation ContextRequest|Requested by 10.0.0.4:4004",
        f"2|5|4|A|p1|room|r1|temp|{WALL}|{WALL + 9999}|x=11",
        "0|5",
    ):
        assert talk.hear(B, f"22|5|77|{text}") == []
    assert talk.stats()["rejected_wrapped"] == 11
    assert talk.stats()["neighbours"] == 1


def test_a_strangers_is_refused_as_if_unknown_and_nothing_is_repeated_to_it():
    talk = reliable(B, trusted_networks="10.0.0.2/32", controller_networks=INSIDE)
    wrapped = f"22|9|77|3|5|{QUESTION}"
    assert talk.hear(STRANGER, wrapped) == [unknown(talk, 9, "STRANGER")]
    stats = talk.stats()
    assert [stats[name] for name in ("in_22", "rejected_wrapped", "rejected_unreadable")] == [1, 1, 0], "counted once"
    talk.provide(payload="x=11")
    (answer,) = talk.hear(STRANGER, f"3|5|{QUESTION}")
    assert answer[1].startswith("4|")
    assert talk.wait(5_000) == []


def test_a_window_forgets_the_oldest_number():
    window = Window()
    assert all(window.note(number) for number in range(WINDOW))
    assert not window.note(0)
    assert window.note(WINDOW)
    assert window.note(0)
    window.check_invariants()


# ---- those that do not know it


def test_a_broker_with_this_switched_off_answers_as_one_that_does_not_know_it():
    talk = Talk(B)
    assert talk.hear(B, f"22|9|77|3|5|{QUESTION}") == [unknown(talk, 9, "B")]
    assert talk.hear(B, "23|9|77") == []


def test_one_that_does_not_know_it_gets_everything_as_it_is_until_it_joins_anew():
    talk = reliable(B)
    (wrapped,) = [text for name, text in talk.ask(stamp=5) if name == "B"]
    refusal = f"6|{talk.wall}|NACK|Status:301|Operation Unknown|Requested by 10.0.0.1:4001"
    assert talk.hear(B, refusal) == [("B", f"3|5|{QUESTION}")]
    assert talk.hear(B, refusal) == [], "and no more for one that was under way"
    assert talk.stats()["rejected_stray"] == 0
    assert ("B", f"3|6|room|r2|temp{hop(C)}") in talk.ask(stamp=6, key="room|r2|temp")
    talk.hear(B, "8|1|10.0.0.1:4001|*")
    assert talk.ask(stamp=7, key="room|r3|temp")[1][1].startswith("22|")
    assert wrapped


def test_it_is_tried_again_after_a_while():
    talk = reliable(B)
    talk.ask(stamp=5)
    talk.hear(B, f"6|{talk.wall}|NACK|Status:301|Operation Unknown|Requested by 10.0.0.1:4001")
    talk.wait(hops.PLAIN_FOR // MILLISECOND)
    assert talk.ask(stamp=7)[1][1].startswith("22|")


def test_one_that_has_acknowledged_is_believed_to_know_it_whatever_comes_damaged():
    talk = reliable(B)
    (wrapped,) = [text for name, text in talk.ask(stamp=5) if name == "B"]
    acknowledge(talk, B, wrapped)
    talk.ask(stamp=6, key="room|r2|temp")
    refusal = f"6|{talk.wall}|NACK|Status:301|Operation Unknown|Requested by 10.0.0.1:4001"
    assert [talk.hear(B, refusal) for _ in range(PATIENCE)] == [[]] * (PATIENCE - 1) + [
        [("B", f"3|6|room|r2|temp{hop(C)}")]
    ]


def test_a_refusal_of_nothing_that_was_sent_changes_nothing():
    talk = reliable(B)
    talk.ask(stamp=5)
    assert talk.hear(B, "6|1|NACK|Status:301|Operation Unknown|Requested by 10.0.0.1:4001") == []
    assert talk.stats()["rejected_stray"] == 1
    assert talk.wait(200)[0][2].startswith("22|")
