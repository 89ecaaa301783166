"""Who is gone, and who is only not heard: BrokerGone (17), suspicion and its indirect pings (24, 25)."""

import pytest

from overlay.core.addresses import format_address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.departures import GRACE
from overlay.systems.context_broker.broker.suspicion import MOST_FAVOURS
from tests.broker.transcript import NAMES, STRANGER, WALL, A, B, C, D, E, K, Talk, hop

REQUEST = "ContextRequest"


def said(broker, text="9|1|Ctx_Broker|"):
    return f"{text}{format_address(broker)}"


def gone(broker, stamp=WALL, ttl=2):
    return f"17|{stamp}|{ttl}|{format_address(broker)}"


def events(talk):
    return [type(event).__name__ for event in talk.broker.events()]


def watching(*neighbours, **settings):
    talk = Talk(*neighbours, **settings)
    talk.hear(K, "0|7")
    return talk


def rounds(talk, count, *living):
    """So many intervals, in each of which the living answer their pings; what was sent by code, with its interval."""
    sent = []
    for i in range(count):
        for broker in living:
            talk.hear(broker, said(broker))
        sent += [(i + 1, name, text) for _, name, text in talk.wait(1000)]
    return sent


# ---- BrokerGone


def test_a_crash_is_told_to_the_other_neighbours():
    talk = watching(B, D, E, gone_ttl=2)
    sent = rounds(talk, 3, D, E)
    assert [(name, text) for _, name, text in sent if text.startswith("17|")] == [
        ("D", gone(B, talk.wall)),
        ("E", gone(B, talk.wall)),
    ]


def test_a_leave_is_told_to_the_other_neighbours():
    talk = Talk(B, D, gone_ttl=3)
    assert talk.hear(B, "7|9|*") == [("D", gone(B, talk.wall, ttl=3))]
    assert talk.hear(B, "7|9|*") == [], "once"


def test_nobody_is_told_unless_it_is_switched_on():
    talk = watching(B, D)
    assert not any(text.startswith("17|") for _, _, text in rounds(talk, 4, D))
    assert talk.hear(D, gone(B)) == [
        ("D", f"6|{WALL}|NACK|Status:301|Operation Unknown|Requested by {format_address(D)}")
    ]


def test_a_notice_is_passed_on_once_and_not_back():
    talk = Talk(B, D, E, gone_ttl=2)
    assert talk.hear(B, gone(K)) == [("D", gone(K, ttl=1)), ("E", gone(K, ttl=1))]
    assert talk.hear(D, gone(K)) == []
    assert talk.stats()["rejected_duplicate"] == 1
    assert talk.hear(D, gone(K, stamp=WALL + 1, ttl=1)) == [], "its way ends here"


def test_a_notice_goes_no_further_than_our_own_would():
    talk = Talk(B, D, gone_ttl=2)
    assert talk.hear(B, gone(K, ttl=255)) == [("D", gone(K, ttl=2))]


def test_whom_a_notice_names_is_dropped_pinged_at_once_and_back_when_it_answers():
    talk = watching(B, D, gone_ttl=2)
    rounds(talk, 1, B, D)
    assert talk.hear(B, gone(D)) == [("D", f"1|{talk.wall}")]
    assert talk.broker.neighbours == (B,)
    assert events(talk)[-1] == "NeighbourLost"
    talk.hear(D, said(D))
    assert talk.broker.neighbours == (B, D)
    assert events(talk) == ["NeighbourReturned"]


def test_so_it_is_before_anybody_ordered_to_monitor():
    talk = Talk(B, D, gone_ttl=2)
    assert talk.hear(B, gone(D)) == [("D", f"1|{talk.wall}")]
    assert (talk.broker.neighbours, talk.stats()["neighbours_dropped"]) == ((B,), 1)
    assert [name for _, name, _ in talk.wait(3_000)] == ["D", "D"]
    talk.hear(D, said(D))
    assert talk.broker.neighbours == (B, D)


def test_one_that_took_its_leave_is_not_pinged_even_if_the_notice_comes_first():
    talk = watching(B, D, gone_ttl=2)
    talk.hear(B, gone(D))
    talk.hear(D, "7|5|*")
    assert all(name == "B" for _, name, _ in rounds(talk, 5, B))


def test_only_a_neighbour_is_believed():
    talk = Talk(B, D, gone_ttl=2)
    for source in (C, STRANGER):
        assert talk.hear(source, gone(D)) == []
    assert talk.broker.neighbours == (B, D)
    assert talk.stats()["rejected_command"] == 2


def test_who_hears_of_its_own_death_says_nothing():
    talk = Talk(B, D, gone_ttl=2)
    assert talk.hear(B, gone(A)) == []
    assert talk.broker.neighbours == (B, D)


def test_notices_are_remembered_within_bounds():
    talk = Talk(B, D, gone_ttl=2, clock_window_ms=60_000)
    flood(talk, B, 3000)
    assert talk.stats()["out_17"] == 1024
    assert events(talk)[-1] == "LimitReached"
    talk.wait(60_000)
    assert talk.hear(B, gone(K)) == [("D", gone(K, ttl=1))]


def flood(talk, source, count):
    for i in range(count):
        talk.hear(source, gone(K, stamp=WALL + i))


def test_one_neighbours_flood_leaves_the_word_of_others_and_our_own_as_good_as_before():
    talk = watching(B, D, E, gone_ttl=2)
    flood(talk, B, 1024)
    assert talk.hear(D, gone(E)) == [("E", f"1|{talk.wall}")], "dropped, pinged, and not passed on"
    assert talk.broker.neighbours == (B, D)
    assert talk.hear(B, gone(K)) == []
    assert talk.stats()["rejected_duplicate"] == 1, "what is remembered is known"
    assert talk.hear(D, "7|9|*") == [("B", gone(D, talk.wall))]


def test_only_notices_of_now_are_believed():
    talk = Talk(B, D, E, gone_ttl=2)
    for offset in (-30_001, 30_001, 10**12):
        assert talk.hear(B, gone(D, talk.wall + offset)) == []
    assert talk.broker.neighbours == (B, D, E)
    assert talk.stats()["rejected_stamp"] == 3
    talk.hear(B, gone(D, talk.wall - 30_000))
    talk.hear(B, gone(E, talk.wall + 30_000))
    assert talk.broker.neighbours == (B,)


def test_a_neighbour_that_repeats_a_false_notice_is_believed_once_an_interval():
    talk = Talk(B, D, E, gone_ttl=2)
    drops = []
    for i in range(30):
        sent = talk.hear(B, gone(D, stamp=talk.wall))
        drops += [i] if D not in talk.broker.neighbours else []
        assert ("E", gone(D, stamp=talk.wall, ttl=1)) in sent, "others judge for themselves"
        talk.hear(D, said(D))
        assert talk.broker.neighbours[0] == B and set(talk.broker.neighbours) == {B, D, E}
        talk.wait(100)
    assert drops == [0, 10, 20]


def test_each_neighbours_word_counts_for_itself():
    talk = Talk(B, D, E, gone_ttl=2)
    for i, source in enumerate((B, E)):
        talk.hear(source, gone(D, stamp=WALL + i))
        assert D not in talk.broker.neighbours
        talk.hear(D, said(D))


def test_whose_word_was_taken_is_remembered_within_bounds():
    talk = Talk(B, gone_ttl=2, ping_interval_ms=3_600_000)
    for i in range(1200):
        broker = (f"10.1.{i // 250}.{1 + i % 250}", 4000)
        talk.broker.receive_datagram(f"8|1|{format_address(A)}|*".encode(), broker, talk.now)
        talk.broker.receive_datagram(gone(broker).encode(), B, talk.now)
        talk.broker.receive_datagram(said(broker, "7|1|*").encode(), broker, talk.now)
    talk.broker.check_invariants()


# ---- whoever waits for one that is gone


def asking(talk, stamp=5):
    """The neighbour that a search from C went to, and the other one."""
    (asked,) = [name for name, text in talk.ask(stamp=stamp) if text.startswith("3|")]
    return (B, D) if asked == "B" else (D, B)


@pytest.mark.parametrize("how", ["leave", "notice"])
def test_a_search_goes_on_after_a_leave_or_a_notice_when_what_it_still_answers_had_time_to_come(how):
    talk = Talk(B, D, walk_policy="backtrack", gone_ttl=2)
    asked, other = asking(talk)
    talk.hear(*((asked, "7|9|*") if how == "leave" else (other, gone(asked))))
    sent = [(at, name) for at, name, text in talk.wait(2000) if text.startswith("3|")]
    assert sent == [(GRACE // MILLISECOND, NAMES[other])]


def test_what_one_still_answers_that_takes_its_leave_counts():
    talk = Talk(B, D)
    asked, _ = asking(talk)
    talk.hear(asked, "7|9|*")
    answer = f"4|9|4|p1|room|r1|temp|{talk.wall - 1}|{talk.wall + 120_000}|x=10"
    assert talk.hear(asked, answer + hop(C))[0] == ("C", answer)


def test_a_false_notice_costs_no_search():
    talk = watching(B, D, gone_ttl=2)
    asked, other = asking(talk)
    talk.hear(other, gone(asked))
    talk.hear(asked, said(asked))
    talk.wait(950)
    assert talk.stats()["pending"] == 1


def test_a_walk_to_one_that_crashed_ends_in_silence():
    talk = watching(B, D, ping_misses=1, ping_interval_ms=100)
    _, other = asking(talk)
    talk.hear(other, said(other))
    assert not any(name == "C" for _, name, _ in talk.wait(150))
    assert talk.stats()["pending"] == 1, "what it said before may still be on its way"


# ---- suspicion

SUSPECTING = {"ping_misses": 2, "indirect_probes": 3}


def test_one_that_misses_its_pings_is_asked_for_through_others_and_dropped_after_three_rounds():
    talk = watching(B, D, E, K, **SUSPECTING)
    sent = rounds(talk, 5, D, E, K)
    asked = [(at, name) for at, name, text in sent if text.startswith("24|")]
    assert sorted(asked) == [(at, name) for at in (2, 3, 4) for name in "DEK"]
    assert all(text.endswith(f"|{format_address(B)}") for _, _, text in sent if text.startswith("24|"))
    assert [at for at, name, text in sent if name == "B" and text.startswith("1|")] == [1, 2, 3, 4]
    assert talk.broker.neighbours == (D, E, K)
    assert events(talk)[-1] == "NeighbourLost"


def test_a_suspect_that_answers_is_one_no_more():
    talk = watching(B, D, **SUSPECTING)
    rounds(talk, 4, D)
    assert talk.stats()["neighbours_suspected"] == 1
    talk.hear(B, said(B))
    assert talk.stats()["neighbours_suspected"] == 0
    rounds(talk, 4, D)
    assert talk.broker.neighbours == (B, D)


def test_one_that_only_others_hear_is_not_dropped_and_stays_a_suspect():
    talk = watching(B, D, **SUSPECTING)
    sent = rounds(talk, 2, D)
    for _ in range(10):
        (question,) = [text for _, name, text in sent if name == "D" and text.startswith("24|")]
        assert talk.hear(D, question.replace("24|", "25|")) == []
        sent = rounds(talk, 1, D)
    assert talk.broker.neighbours == (B, D)
    assert (talk.stats()["neighbours_suspected"], talk.stats()["heard_indirectly"]) == (1, 10)
    rounds(talk, 3, D)
    assert talk.broker.neighbours == (D,)


def test_only_an_answer_that_was_asked_for_counts():
    talk = watching(B, D, E, **SUSPECTING)
    sent = rounds(talk, 2, D, E)
    (question,) = [text for _, name, text in sent if name == "D" and text.startswith("24|")]
    answer = question.replace("24|", "25|")
    for source, text in ((C, answer), (D, said(B, "25|1|")), (D, answer.replace("10.0.0.2:4002", "10.0.0.5:4005"))):
        assert talk.hear(source, text) == []
    assert talk.stats()["heard_indirectly"] == 0
    talk.hear(D, answer)
    talk.hear(D, answer)
    assert talk.stats()["heard_indirectly"] == 1
    assert talk.stats()["rejected_stray"] == 4


def test_our_own_pings_take_the_place_of_helpers_that_are_not_there():
    talk = watching(B, D, **SUSPECTING)
    sent = rounds(talk, 2, D)
    assert [text[:2] for at, name, text in sent if at == 2 and name == "B"] == ["1|", "1|", "1|"]
    assert [text[:2] for at, name, text in sent if at == 2 and name == "D"] == ["24", "1|"]


def test_walks_pass_a_suspect_over_while_there_is_another():
    talk = watching(B, D, **SUSPECTING)
    rounds(talk, 3, D)
    for _ in range(20):
        assert [name for name, text in talk.ask() if text.startswith("3|")] == ["D"]
    talk.hear(D, "7|1|*")
    assert [name for name, text in talk.ask() if text.startswith("3|")] == ["B"], "better than no broker"


def test_a_walk_that_proves_asks_a_suspect_last():
    talk = watching(B, D, walk_policy="backtrack", **SUSPECTING)
    rounds(talk, 3, D)
    assert asking(talk) == (D, B)
    refusal = f"6|5|NACK|Status:202|Operation {REQUEST}|Requested by {format_address(C)}{hop(C)}"
    assert [name for name, _ in talk.hear(D, refusal)] == ["B"]


def test_who_hears_nobody_doubts_itself_a_while():
    talk = watching(B, D, E, K, **SUSPECTING)
    rounds(talk, 7)
    assert talk.broker.neighbours == (B, D, E, K), "all at once: likelier ours"
    rounds(talk, 1)
    assert talk.broker.neighbours == ()


def test_who_has_two_neighbours_cannot_tell_and_does_not_wait():
    talk = watching(B, D, **SUSPECTING)
    rounds(talk, 5)
    assert talk.broker.neighbours == ()


# ---- pinging for others


def ask_for(broker, stamp=5):
    return f"24|{stamp}|{format_address(broker)}"


def test_a_helper_pings_and_says_what_it_heard():
    talk = Talk(B, D, **SUSPECTING)
    assert talk.hear(B, ask_for(E)) == [("E", f"1|{talk.wall}")]
    assert talk.hear(E, said(E)) == [("B", f"25|5|{format_address(E)}")]
    assert talk.hear(E, said(E)) == [], "once"
    assert talk.stats()["rejected_stray"] == 1


def test_a_helper_answers_all_who_asked_and_only_in_time():
    talk = Talk(B, D, **SUSPECTING)
    talk.hear(B, ask_for(E, 5))
    talk.wait(600)
    talk.hear(D, ask_for(E, 6))
    talk.wait(500)
    assert talk.hear(E, said(E)) == [("D", f"25|6|{format_address(E)}")]


def test_a_helper_that_is_asked_for_itself_lives():
    talk = Talk(B, **SUSPECTING)
    assert talk.hear(B, ask_for(A)) == [("B", f"25|5|{format_address(A)}")]


def test_only_neighbours_are_helped():
    talk = Talk(B, **SUSPECTING)
    for source in (C, STRANGER):
        assert talk.hear(source, ask_for(E)) == []
    assert talk.stats()["rejected_command"] == 2
    talk.hear(B, ask_for(E))
    talk.hear(B, "7|1|*")
    assert talk.hear(E, said(E)) == [], "it is a neighbour no more"


def test_a_helper_sends_strangers_no_more_than_they_are_owed():
    talk = Talk(B, **SUSPECTING)
    assert talk.hear(B, ask_for(STRANGER)) == []
    assert talk.stats()["withheld"] == 1


def test_a_helper_does_so_many_favours_at_a_time():
    talk = Talk(B, **SUSPECTING, trusted_networks="10.0.0.0/8")
    for i in range(MOST_FAVOURS + 50):
        talk.broker.receive_datagram(f"24|5|10.0.{1 + i // 250}.{1 + i % 250}:4000".encode(), B, talk.now)
    talk.broker.check_invariants()
    assert len(talk.broker.datagrams_to_send()) == MOST_FAVOURS
    talk.wait(1000)
    assert talk.hear(B, ask_for(E)) == [("E", f"1|{talk.wall}")]


def test_a_broker_that_suspects_nobody_does_not_know_the_question():
    talk = Talk(B)
    assert talk.hear(B, ask_for(E)) == [
        ("B", f"6|5|NACK|Status:301|Operation Unknown|Requested by {format_address(B)}")
    ]
    assert talk.hear(B, said(E, "25|5|")) == []
