"""The structured arm as transcripts: 2, 3 and 32 towards clients, 26 to 31 between brokers."""

import pytest

from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.structured.identifiers import of_broker, of_key, to_text
from tests.broker.transcript import STRANGER, A, B, C, D, E, K, Talk, hop

UPDATE, REQUEST = "ContextUpdateAdvertisement", "ContextRequest"
KEY = "room|r1|temp"
TARGET = to_text(of_key(("room", "r1", "temp")))
OWN = to_text(of_broker(A))


def named(*brokers):
    return "".join(f"|{format_address(broker)}" for broker in brokers)


def structured(*contacts, **settings):
    """Broker A with neighbours that have answered its first question, and so are its contacts."""
    talk = Talk(arm="structured", **settings)
    for contact in contacts:
        talk.hear(contact, f"8|1|{format_address(A)}|*")
        for _, name, text in talk.wait(1):
            answer(talk, contact, name, text)
    assert talk.stats()["contacts"] == len(contacts)
    return talk


def answer(talk, source, name, text, *brokers):
    """``source`` answers a 26 or 28 with brokers."""
    code, stamp, *_ = text.split("|")
    assert code in ("26", "28")
    target = TARGET if code == "28" else text.split("|")[2]
    return talk.hear(source, f"27|{stamp}|{target}{named(*brokers)}")


def silence(talk, silent):
    """Let contact ``silent`` be gone, while the other one speaks."""
    for _ in range(8):
        for _, name, text in talk.wait(1000):
            if text[:2] == "26" and name == {B: "D", D: "B"}[silent]:
                answer(talk, {B: D, D: B}[silent], name, text)
    assert talk.stats()["contacts"] == 1


def questions(sent, code):
    """Name and timestamp of those asked with this code."""
    return {name: text.split("|")[1] for name, text in sent if text.startswith(f"{code}|")}


def record(code, talk, stamp, payload="degC=21.5", provider="p1", tail=""):
    begin, end = talk.wall - 1000, talk.wall + 120_000
    return f"{code}|{stamp}|{len(payload)}|{provider}|{KEY}|{begin}|{end}|{payload}{tail}"


# ---- alone


def test_alone_it_is_like_any_broker():
    talk = structured()
    assert talk.ask(stamp=5) == [talk.ack(101, REQUEST), talk.nack(202, REQUEST, 5)]
    assert talk.provide() == [talk.ack(101, UPDATE), talk.ack(102, UPDATE)]
    found = ("C", record(4, talk, talk.wall))
    assert talk.ask() == [talk.ack(101, REQUEST), found, talk.ack(102, REQUEST)]
    assert talk.hear(C, f"32|7|{KEY}") == [found]
    assert talk.stats()["hits"] == 2


def test_an_update_from_the_future_and_an_expired_one():
    talk = structured()
    late = talk.wall + 31_000
    assert talk.provide(stamp=late) == [talk.nack(301, UPDATE, late)]
    assert talk.provide(valid=(-10, -1)) == [talk.ack(101, UPDATE), talk.ack(102, UPDATE)]
    assert talk.stats()["entries"] == 0


def test_a_full_table_is_said():
    talk = structured(table_entries=1)
    talk.provide()
    sent = talk.provide(key="room|r2|temp")
    assert sent == [talk.ack(101, UPDATE), talk.nack(201, UPDATE, talk.wall)]


def test_fewer_known_than_keep_an_entry_are_refused():
    with pytest.raises(InvalidSetting, match="dht_bucket: must be at least dht_replicas, 5"):
        BrokerConfig(dht_bucket=4, dht_replicas=5)


# ---- meeting others


def test_a_neighbour_is_a_contact_once_it_answers():
    talk = Talk(arm="structured")
    talk.hear(B, f"8|1|{format_address(A)}|*")
    ((_, name, text),) = talk.wait(1)
    assert (name, text) == ("B", f"26|{talk.wall - 1}|{OWN}|*")
    assert talk.stats()["contacts"] == 0
    assert answer(talk, B, name, text) == []
    assert talk.stats()["contacts"] == 1


def test_those_named_are_asked_themselves_and_strangers_never():
    talk = Talk(arm="structured")
    talk.hear(B, f"8|1|{format_address(A)}|*")
    ((_, name, text),) = talk.wait(1)
    sent = answer(talk, B, name, text, D, STRANGER, A, B)
    assert sent == [("D", f"26|{talk.wall}|{OWN}|*")]
    assert talk.stats()["contacts"] == 1


def test_a_neighbour_of_the_other_arm_is_no_contact():
    talk = Talk(arm="structured")
    talk.hear(B, f"8|1|{format_address(A)}|*")
    ((_, _, text),) = talk.wait(1)
    stamp = text.split("|")[1]
    assert talk.hear(B, f"6|{stamp}|NACK|Status:301|Operation Unknown|Requested by 10.0.0.1:4001") == []
    assert talk.wait(1000) == []
    assert talk.stats()["contacts"] == 0
    assert talk.stats()["rejected_stray"] == 0


def test_whoever_asks_is_asked_and_told_who_is_closest():
    talk = structured(B)
    sent = talk.hear(D, f"26|5|{TARGET}|*")
    assert sent == [("D", f"27|5|{TARGET}{named(B)}"), ("D", f"26|{talk.wall}|{OWN}|*")]
    assert talk.hear(B, f"26|6|{TARGET}") == [("B", f"27|6|{TARGET}")]


def test_a_silent_contact_is_asked_four_times_and_forgotten():
    talk = structured(B)
    sent = talk.wait(6001)
    assert [(after, name) for after, name, _ in sent] == [(after, "B") for after in (5000, 5250, 5500, 5750)]
    assert talk.stats()["contacts"] == 0


def test_a_neighbour_that_is_back_is_a_contact_again():
    talk = structured(B)
    talk.wait(8000)
    ((_, name, text),) = talk.wait(2000)
    assert text.endswith("|*")
    answer(talk, B, name, text)
    assert talk.stats()["contacts"] == 1


def test_a_contact_that_speaks_is_not_asked():
    talk = structured(B)
    for _ in range(4):
        assert [text for _, _, text in talk.wait(4000) if text.startswith("26")] == []
        talk.hear(B, f"26|{talk.wall}|{TARGET}")


# ---- who is served


@pytest.mark.parametrize("code", ["26", "28", "30"])
def test_a_stranger_is_refused(code):
    talk = structured(B)
    said = {"26": f"26|5|{TARGET}|*", "28": f"28|5|{KEY}erature", "30": record(30, talk, 5)}[code]
    assert talk.hear(STRANGER, said) == [talk.nack(301, "Unknown", 5, STRANGER)]
    assert talk.stats()["rejected_command"] == 1
    assert talk.stats()["entries"] == 0


@pytest.mark.parametrize("code", ["26", "28", "30"])
def test_switched_off_all_of_it_is_unknown(code):
    talk = Talk(B)
    said = {"26": f"26|5|{TARGET}", "28": f"28|5|{KEY}", "30": record(30, talk, 5)}[code]
    assert talk.hear(B, said) == [talk.nack(301, "Unknown", 5, B)]
    assert talk.stats()["entries"] == 0


@pytest.mark.parametrize("code", ["27", "29", "31"])
def test_answers_to_nothing_change_nothing(code):
    talk = structured(B)
    said = {
        "27": f"27|5|{TARGET}{named(D)}",
        "29": record(29, talk, 5, tail=named(D)),
        "31": f"31|5|p1|{KEY}",
    }[code]
    assert talk.hear(B, said) == []
    assert talk.stats()["rejected_stray"] == 1
    assert (talk.stats()["entries"], talk.stats()["contacts"]) == (0, 1)


def test_what_is_stored_is_confirmed_and_given_out_again():
    talk = structured(B)
    stamp = talk.wall
    assert talk.hear(B, record(30, talk, stamp)) == [("B", f"31|{stamp}|p1|{KEY}")]
    assert talk.hear(B, record(30, talk, stamp - 5, payload="old")) == [("B", f"31|{stamp - 5}|p1|{KEY}")]
    sent = talk.hear(D, f"28|7|{KEY}")
    assert sent[0] == ("D", record(29, talk, stamp, tail=named(B)))
    assert talk.stats()["entries"] == 1


def test_what_comes_from_the_future_or_finds_no_room_is_not_stored():
    talk = structured(B, table_entries=1)
    late = talk.wall + 31_000
    assert talk.hear(B, record(30, talk, late)) == [talk.nack(301, "Unknown", late, B)]
    talk.hear(B, record(30, talk, 5))
    assert talk.hear(B, record(30, talk, 6, provider="p2")) == [talk.nack(201, "Unknown", 6, B)]


# ---- updates


def test_an_update_goes_to_the_closest_and_is_processed_when_most_have_it():
    talk = structured(B, D)
    talk.wait(1)
    stamp = talk.wall
    sent = talk.provide()
    assert sent[0] == talk.ack(101, UPDATE)
    asked = questions(sent, 26)
    assert set(asked) == {"B", "D"}
    assert talk.hear(B, f"27|{asked['B']}|{TARGET}{named(D)}") == []
    stored = talk.hear(D, f"27|{asked['D']}|{TARGET}{named(B)}")
    assert sorted(stored) == [("B", record(30, talk, stamp)), ("D", record(30, talk, stamp))]
    assert talk.hear(D, f"31|{stamp}|p1|{KEY}") == [talk.ack(102, UPDATE)]
    assert talk.hear(B, f"31|{stamp}|p1|{KEY}") == []
    assert talk.stats()["stored"] == 1


def test_an_update_that_one_keeper_confirms_is_processed_when_the_others_are_given_up():
    talk = structured(B, D)
    asked = questions(talk.provide(), 26)
    talk.hear(B, f"27|{asked['B']}|{TARGET}")
    stored = talk.hear(D, f"27|{asked['D']}|{TARGET}")
    assert set(questions(stored, 30)) == {"B", "D"}
    sent = talk.wait(800)
    assert [(after, name) for after, name, text in sent if text.startswith("5|")] == [(750, "C")]


def test_an_update_goes_to_those_too_that_do_not_answer_when_they_are_looked_for():
    talk = structured(B, D)
    stamp = talk.wall
    asked = questions(talk.provide(), 26)
    talk.hear(B, f"27|{asked['B']}|{TARGET}")
    sent = talk.wait(500)
    assert {name for _, name, text in sent if text.startswith("30|")} == {"B", "D"}
    assert talk.hear(D, f"31|{stamp}|p1|{KEY}") == [talk.ack(102, UPDATE)]


def test_without_any_keeper_that_answers_it_keeps_the_entry_itself():
    talk = structured(B, D, dht_replicas=1)
    talk.provide()
    sent = talk.wait(2000)
    assert ("C", 102) in [(name, int(text.split("Status:")[1][:3])) for _, name, text in sent if text[0] == "5"]
    assert talk.stats()["entries"] == 1


def test_an_update_that_nobody_can_store_is_refused():
    talk = structured(B, table_entries=1)
    talk.hear(B, record(30, talk, 5, provider="other"))
    asked = questions(talk.provide(), 26)
    talk.hear(B, f"27|{asked['B']}|{TARGET}")
    stamp = talk.wall
    refused = talk.hear(B, f"6|{stamp}|NACK|Status:201|Operation Unknown|Requested by {format_address(A)}")
    assert refused == [talk.nack(201, UPDATE, stamp)]


# ---- requests


def test_the_newest_of_the_answers_wins():
    talk = structured(B, D)
    sent = talk.ask(stamp=5)
    assert sent[0] == talk.ack(101, REQUEST)
    asked = questions(sent, 28)
    assert set(asked) == {"B", "D"}
    assert talk.hear(B, record(29, talk, talk.wall - 20, payload="old", provider="p2")) == []
    newer = record(29, talk, talk.wall - 10, payload="new")
    assert talk.hear(D, newer) == [("C", record(4, talk, talk.wall - 10, payload="new")), talk.ack(102, REQUEST)]
    stats = talk.stats()
    assert (stats["dht_lookups"], stats["dht_rounds"], stats["forwards"], stats["dht_messages"]) == (1, 1, 2, 2)
    assert stats["entries"] == 0


def test_what_was_stored_here_meanwhile_counts_too():
    talk = structured(B, D)
    asked = questions(talk.ask(stamp=5), 28)
    assert talk.hear(B, record(29, talk, talk.wall - 20, payload="old")) == []
    newer = talk.wall - 10
    assert talk.hear(D, record(30, talk, newer, payload="new")) == [("D", f"31|{newer}|p1|{KEY}")]
    sent = talk.hear(D, f"27|{asked['D']}|{TARGET}{named(B)}")
    assert sent == [("C", record(4, talk, newer, payload="new")), talk.ack(102, REQUEST)]


def test_data_that_are_not_valid_now_are_no_answer():
    talk = structured(B)
    talk.ask(stamp=5)
    begin, end = talk.wall - 50, talk.wall
    assert talk.hear(B, f"29|7|1|p|{KEY}|{begin}|{end}|x") == [talk.nack(202, REQUEST, 5)]


def test_when_all_of_the_closest_lack_it_that_is_proved():
    talk = structured(B, D)
    asked = questions(talk.ask(stamp=5), 28)
    assert talk.hear(B, f"27|{asked['B']}|{TARGET}{named(D)}") == []
    assert talk.hear(D, f"27|{asked['D']}|{TARGET}{named(B)}") == [talk.nack(202, REQUEST, 5)]
    assert talk.stats()["not_found"] == 1


def test_when_nobody_answers_nothing_is_proved():
    talk = structured(B, D)
    talk.ask(stamp=5)
    sent = talk.wait(2500)
    assert [(after, text.split("|")[0]) for after, name, text in sent if name == "B"][:4] == [
        (250, "28"),
        (500, "26"),  # is it there at all?
        (500, "28"),
        (750, "26"),
    ]
    assert [(after, text) for after, name, text in sent if name == "C"] == [(1500, talk.nack(201, REQUEST, 5)[1])]
    assert talk.stats()["pending"] == 0


def test_one_that_does_not_answer_is_asked_again_as_it_may_have_what_the_others_lack():
    talk = structured(B, D)
    asked = questions(talk.ask(stamp=5), 28)
    assert talk.hear(B, f"27|{asked['B']}|{TARGET}{named(D)}") == []
    sent = talk.wait(1100)
    assert [after for after, name, text in sent if name == "D" and text[:2] == "28"] == [250, 500, 750, 1000]
    assert [name for _, name, _ in sent if name == "C"] == []
    assert talk.hear(D, record(29, talk, 7))[0] == ("C", record(4, talk, 7))


def test_one_that_stays_silent_proves_nothing_until_it_is_known_to_be_gone():
    talk = structured(B, D)
    asked = questions(talk.ask(stamp=5), 28)
    talk.hear(B, f"27|{asked['B']}|{TARGET}")
    sent = talk.wait(2000)
    assert [(after, text) for after, name, text in sent if name == "C"] == [(1500, talk.nack(202, REQUEST, 5)[1])]
    assert talk.stats()["contacts"] == 1


def test_one_that_others_still_name_proves_nothing_by_its_silence():
    talk = structured(B, D)
    silence(talk, D)
    asked = questions(talk.ask(stamp=5), 28)
    assert set(asked) == {"B"}
    assert set(questions(talk.hear(B, f"27|{asked['B']}|{TARGET}{named(D)}"), 28)) == {"D"}
    sent = talk.wait(6000)
    assert [(after, text) for after, name, text in sent if name == "C"] == [(5000, talk.nack(201, REQUEST, 5)[1])]


def test_one_that_became_a_keeper_as_another_fell_silent_asks_the_others_too():
    """Of room r3 it is the third, after D and B: the silent one may be alive, and what is here old."""
    talk = structured(B, D, dht_replicas=2)
    key, begin, end = "room|r3|temp", talk.wall - 1000, talk.wall + 120_000
    talk.hear(B, f"30|5|1|p1|{key}|{begin}|{end}|1")
    silence(talk, D)
    sent = talk.ask(key=key, stamp=5)
    assert set(questions(sent, 28)) == {"B"}
    assert talk.hear(B, f"29|6|1|p1|{key}|{begin}|{end}|2")[0] == ("C", f"4|6|1|p1|{key}|{begin}|{end}|2")


def test_what_is_found_is_answered_whoever_is_silent():
    talk = structured(B, D)
    talk.ask(stamp=5)
    answer = record(4, talk, 7)
    assert talk.hear(B, record(29, talk, 7)) == []
    sent = talk.wait(600)
    assert [(after, text) for after, name, text in sent if name == "C"][:1] == [(500, answer)]


def test_a_named_broker_is_asked_in_the_next_round():
    talk = structured(B, dht_replicas=16)
    asked = questions(talk.ask(stamp=5), 28)
    sent = talk.hear(B, f"27|{asked['B']}|{TARGET}{named(D, STRANGER)}")
    assert set(questions(sent, 28)) == {"D"}
    assert talk.hear(D, record(29, talk, 7))[0] == ("C", record(4, talk, 7))
    assert (talk.stats()["dht_lookups"], talk.stats()["dht_rounds"]) == (1, 2)


def test_an_answer_goes_to_its_own_request_only():
    talk = structured(B)
    first = questions(talk.ask(stamp=5), 28)["B"]
    second = questions(talk.ask(key="room|r2|temp", source=D, stamp=6), 28)["B"]
    assert talk.hear(B, f"27|{second}|{TARGET}") == [talk.nack(202, REQUEST, 6, D)]
    assert talk.hear(B, f"27|{first}|{TARGET}") == [talk.nack(202, REQUEST, 5)]


def test_a_request_that_still_waits_is_not_looked_up_twice():
    talk = structured(B)
    talk.ask(stamp=5)
    assert talk.ask(stamp=5) == [talk.ack(101, REQUEST)]
    assert talk.stats()["rejected_duplicate"] == 1


def test_a_lookup_ends_at_its_deadline():
    talk = structured(B, D, dht_deadline_ms=300)
    talk.ask(stamp=5)
    sent = talk.wait(400)
    assert [(after, text) for after, name, text in sent if name == "C"] == [(300, talk.nack(201, REQUEST, 5)[1])]
    talk.wait(5000)
    assert talk.stats()["pending"] == 0


def test_too_many_lookups_are_refused():
    talk = structured(B, pending_capacity=1)
    talk.ask(stamp=5)
    assert talk.ask(stamp=6) == [talk.ack(101, REQUEST), talk.nack(201, REQUEST, 6)]
    stamp = talk.wall
    assert talk.provide() == [talk.ack(101, UPDATE), talk.nack(201, UPDATE, stamp)]


def test_one_source_cannot_take_all_lookups():
    talk = structured(B, pending_capacity=10)
    for stamp in range(1, 31):
        sent = talk.ask(source=C, stamp=stamp)
    assert sent[-1] == talk.nack(201, REQUEST, 30)
    assert talk.stats()["over_share_requests"] == 21
    assert questions(talk.ask(source=E, stamp=99), 28)


def test_a_request_of_a_broker_of_the_other_arm_is_answered_along_its_hops():
    talk = structured(B)
    asked = questions(talk.ask(source=E, hops=[C], stamp=5), 28)
    assert asked
    assert talk.hear(B, record(29, talk, 7)) == [("E", record(4, talk, 7, tail=hop(C)))]
    asked = questions(talk.ask(source=E, hops=[C], stamp=8), 28)
    (refusal,) = talk.hear(B, f"27|{asked['B']}|{TARGET}")
    assert refusal == ("E", talk.nack(202, REQUEST, 8)[1] + hop(C))


# ---- repair


def test_a_new_contact_is_given_what_it_is_to_keep():
    talk = structured()
    talk.provide()
    stamp = talk.wall
    talk.hear(D, f"26|5|{TARGET}|*")
    talk.hear(D, f"27|{talk.wall}|{OWN}")
    sent = talk.wait(250)
    begin, end = stamp - 1000, stamp + 120_000
    assert [(after, text) for after, _, text in sent] == [
        (200, f"30|{stamp}|9|p1|{KEY}|{begin}|{end}|degC=21.5"),
    ]
    talk.hear(D, f"31|{stamp}|p1|{KEY}")
    assert [text for _, _, text in talk.wait(3000) if text.startswith("30")] == []


def test_one_that_has_started_again_is_given_it_again():
    talk = structured(D)
    talk.wait(300)
    talk.hear(D, record(30, talk, 5))
    assert talk.wait(1000) == []
    talk.hear(D, f"26|6|{TARGET}|*")
    assert [name for _, name, text in talk.wait(250) if text.startswith("30")] == ["D"]


def holding(*rooms):
    """Broker A, whose contact B has acknowledged all these rooms' entries."""
    talk = structured(B)
    talk.wait(300)
    for room in rooms:
        talk.hear(B, record(30, talk, 5).replace(KEY, f"room|{room}|temp"))
    return talk


def given(talk, ms, lost=()):
    """When which room's entry is sent to B, in milliseconds, while B acknowledges all but the lost ones, and lives."""
    times = []
    for waited in range(0, ms, 50):
        for after, name, text in talk.wait(50):
            code, *fields = text.split("|")
            if code == "26":
                answer(talk, B, name, text)
            elif code == "30":
                room = fields[4]
                times.append((waited + after, room))
                if room not in lost:
                    talk.hear(B, f"31|5|p1|room|{room}|temp")
    return times


def test_one_entry_that_never_gets_through_is_given_alone_ever_less_often_and_given_up():
    talk = holding("r1", "r2", "r3")
    talk.hear(B, f"26|6|{TARGET}|*")
    times = given(talk, 120_000, lost=["r2"])
    assert sorted(room for _, room in times) == ["r1", *18 * ["r2"], "r3"]
    begun = [200, 1950, 4700, 9450, 18_200, 34_950]  # 750 ms until unanswered, and 1, 2, 4, 8, 16 s
    assert [at for at, room in times if room == "r2"] == [at + again for at in begun for again in (0, 250, 500)]
    assert (talk.stats()["dht_handed_over"], talk.stats()["dht_given_up"]) == (8, 1)


def test_an_entry_that_gets_through_in_the_end_is_given_no_more():
    talk = holding("r1", "r2")
    talk.hear(B, f"26|6|{TARGET}|*")
    assert [room for _, room in given(talk, 1900, lost=["r2"])].count("r2") == 3
    assert [room for _, room in given(talk, 60_000)] == ["r2"]
    assert talk.stats()["dht_given_up"] == 0


def test_what_is_outdated_meanwhile_is_given_as_it_is_then():
    talk = holding("r1")
    talk.hear(B, f"26|6|{TARGET}|*")
    given(talk, 1900, lost=["r1"])
    newer = record(30, talk, 9, payload="new")
    talk.hear(B, newer)
    assert [text for _, _, text in talk.wait(100) if text.startswith("30")] == [newer]


def test_one_that_dies_meanwhile_is_given_nothing_more():
    talk = holding("r1")
    talk.hear(B, f"26|6|{TARGET}|*")
    assert {text.split("|")[0] for after, _, text in talk.wait(60_000) if after > 7000} == {"26"}
    assert talk.stats()["dht_given_up"] == 0


def test_one_that_leaves_gives_again_what_is_not_acknowledged_and_then_no_more():
    talk = holding("r1")
    talk.hear(K, "7|9")
    assert [at for at, _ in given(talk, 120_000, lost=["r1"])][::3] == [0, 1750, 4500, 9250, 18_000, 34_750]
    assert talk.stats()["contacts"] == 0


def test_whoever_says_again_and_again_that_it_has_started_is_given_all_once_in_an_interval():
    talk = holding("r1", "r2")
    times = []
    for i in range(100):
        talk.hear(B, f"26|{6 + i}|{TARGET}|*")
        times += [(100 * i + at, room) for at, room in given(talk, 100)]
    assert sorted(times) == [(200, "r1"), (200, "r2"), (5200, "r1"), (5200, "r2")]
    assert [room for _, room in given(talk, 20_000)] in (["r1", "r2"], ["r2", "r1"])


def test_when_a_keeper_dies_the_next_closest_is_given_its_entries():
    key = of_key(("room", "r1", "temp"))
    first, second, third = sorted([B, D, E], key=lambda broker: of_broker(broker) ^ key)
    talk = structured(B, D, E, dht_replicas=3)
    talk.wait(300)
    talk.hear(first, record(30, talk, 5))
    given = []
    for _ in range(80):
        for _, name, text in talk.wait(100):
            source = {"B": B, "D": D, "E": E}[name]
            if text.startswith("30"):
                given.append(source)
                talk.hear(source, f"31|5|p1|{KEY}")
            elif source != first:
                answer(talk, source, name, text)
    keepers = sorted([A, first, second, third], key=lambda broker: of_broker(broker) ^ key)
    assert given == [keepers[3]]


def test_one_that_leaves_gives_away_what_it_has_and_serves_no_more():
    talk = structured(B)
    talk.wait(300)
    entry = record(30, talk, 5)
    talk.hear(B, entry)
    assert talk.hear(K, "7|9")[0] == talk.ack(101, "BrokerLeaving", K)
    assert ("B", entry) in [(name, text) for _, name, text in talk.wait(1)]
    talk.hear(B, f"31|5|p1|{KEY}")
    talk.wait(1000)
    assert talk.stats()["contacts"] == 0
    assert talk.hear(B, f"26|5|{TARGET}") == [talk.nack(301, "Unknown", 5, B)]


def test_one_that_joins_again_after_it_left_serves_again():
    talk = structured(B)
    talk.hear(K, "7|9")
    talk.wait(2000)
    talk.hear(B, f"8|1|{format_address(A)}|*")
    ((_, name, text),) = talk.wait(1)
    answer(talk, B, name, text)
    assert talk.stats()["contacts"] == 1
    assert talk.hear(B, f"26|5|{TARGET}") == [("B", f"27|5|{TARGET}")]
