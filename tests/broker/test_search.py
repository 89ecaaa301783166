"""What each search strategy makes a broker do, message by message; the guide's own strategy included."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.broker.transcript import STRANGER, B, C, D, E, Talk, hop
from tests.waiting import BOUND_S

REQUEST = "ContextRequest"
ROOT = Path(__file__).parents[2]


def found(talk, tail=""):
    return f"4|{talk.wall}|4|p1|room|r1|temp|{talk.wall - 1000}|{talk.wall + 120_000}|x=11{tail}"


def asked(sent, code="3"):
    """To whom a request (or Lookahead) went."""
    return {name for name, text in sent if text.startswith(f"{code}|")}


def refusal(talk, stamp, *hops):
    return talk.nack(202, REQUEST, stamp)[1] + hop(*hops)


# ---- backtrack


def test_backtrack_asks_one_neighbour_after_the_other_and_then_refuses():
    talk = Talk(B, D, E, walk_policy="backtrack")
    order = [asked(talk.ask(stamp=5)).pop()]
    addresses = {"B": B, "D": D, "E": E}
    for _ in range(2):
        (sent,) = talk.hear(addresses[order[-1]], refusal(talk, 5, C))
        assert sent == (sent[0], f"3|5|room|r1|temp{hop(C)}")
        order.append(sent[0])
    assert sorted(order) == ["B", "D", "E"]
    assert talk.hear(addresses[order[-1]], refusal(talk, 5, C)) == [talk.nack(202, REQUEST, 5)]


def test_backtrack_refuses_at_once_what_was_here_on_another_path():
    talk = Talk(B, D, walk_policy="backtrack")
    talk.ask(source=B, hops=[C], stamp=5)
    assert talk.ask(source=D, hops=[C, E], stamp=5) == [("D", refusal(talk, 5, C, E))]
    assert talk.stats()["refused_seen"] == 1
    assert asked(talk.ask(source=D, hops=[C, E], stamp=6)) == {"B"}, "another query of the same consumer"


def test_backtrack_forgets_a_query_when_no_answer_can_come_any_more():
    talk = Talk(B, D, walk_policy="backtrack")
    talk.ask(source=B, hops=[C], stamp=5)
    talk.wait(10_000)
    assert asked(talk.ask(source=D, hops=[C, E], stamp=5)) == {"B"}


def test_a_neighbour_that_could_not_answer_is_told_on_when_all_others_refuse():
    talk = Talk(B, D, walk_policy="backtrack")
    first = asked(talk.ask(stamp=5)).pop()
    first, second = (B, D) if first == "B" else (D, B)
    talk.hear(first, refusal(talk, 5, C).replace("Status:202", "Status:201"))
    assert talk.hear(second, refusal(talk, 5, C)) == [talk.nack(201, REQUEST, 5)]


# ---- several at once


def test_k_walkers_start_together_and_the_first_answer_wins():
    talk = Talk(B, D, E, search="k-walkers", walkers=2)
    sent = talk.ask(stamp=5)
    walkers = [{"B": B, "D": D, "E": E}[name] for name in sorted(asked(sent))]
    assert len(walkers) == 2
    assert talk.hear(walkers[0], found(talk, hop(C))) == [("C", found(talk)), talk.ack(102, REQUEST)]
    assert talk.hear(walkers[1], found(talk, hop(C))) == []
    assert talk.stats()["late_answers"] == 1
    assert talk.stats()["rejected_stray"] == 0
    assert talk.hear(walkers[1], found(talk, hop(C))) == []
    assert talk.stats()["rejected_stray"] == 1, "one that comes twice belongs to nothing"


def test_k_walkers_are_refused_only_when_all_are():
    talk = Talk(B, D, search="k-walkers", walkers=4)
    assert asked(talk.ask(stamp=5)) == {"B", "D"}
    assert talk.hear(B, refusal(talk, 5, C)) == []
    assert talk.hear(D, refusal(talk, 5, C)) == [talk.nack(202, REQUEST, 5)]


def test_a_walker_goes_on_alone():
    talk = Talk(B, D, E, search="k-walkers", walkers=3)
    assert len(asked(talk.ask(source=B, hops=[C]))) == 1


def test_a_flood_goes_to_all_but_the_sender_and_proves_a_not_found():
    talk = Talk(B, D, E, search="flood")
    assert asked(talk.ask(source=B, hops=[C], stamp=5)) == {"D", "E"}
    assert talk.ask(source=D, hops=[C, B], stamp=5) == [("D", refusal(talk, 5, C, B))], "seen before"
    assert talk.hear(D, refusal(talk, 5, C, B)) == []
    assert talk.hear(E, refusal(talk, 5, C, B)) == [("B", refusal(talk, 5, C))]


def test_a_flood_ends_at_its_ttl():
    talk = Talk(B, D, search="flood", flood_ttl=1)
    assert asked(talk.ask(stamp=5)) == {"B", "D"}
    assert talk.ask(source=B, hops=[C], stamp=6) == [("B", refusal(talk, 6, C))]


def test_a_normalized_flood_goes_to_as_many_as_the_least_connected_has():
    talk = Talk(B, D, E, search="normalized-flood", flood_degree=1)
    assert len(asked(talk.ask(source=B, hops=[C]))) == 1
    assert asked(Talk(B, D, search="normalized-flood", flood_degree=5).ask()) == {"B", "D"}


# ---- looking ahead


def test_lookahead_floods_first_and_walks_when_nothing_came():
    talk = Talk(B, D, search="lookahead", lookahead_wait_ms=20)
    sent = talk.ask(stamp=5)
    assert sent == [
        talk.ack(101, REQUEST),
        ("B", f"16|5|1|room|r1|temp{hop(C)}"),
        ("D", f"16|5|1|room|r1|temp{hop(C)}"),
    ]
    ((after, name, text),) = talk.wait(50)
    assert (after, name in "BD", text) == (20, True, f"3|5|room|r1|temp{hop(C)}")


def test_what_the_flood_finds_is_the_answer():
    talk = Talk(B, D, search="lookahead")
    talk.ask()
    assert talk.hear(D, found(talk, hop(C))) == [("C", found(talk)), talk.ack(102, REQUEST)]
    assert talk.wait(50) == [], "no walk begins"


def test_a_neighbour_may_answer_flood_and_walk_and_counts_once():
    talk = Talk(B, search="lookahead")
    talk.ask()
    talk.wait(20)
    assert talk.hear(B, found(talk, hop(C))) == [("C", found(talk)), talk.ack(102, REQUEST)]
    assert talk.hear(B, found(talk, hop(C))) == []
    assert talk.stats()["late_answers"] == 1


def test_an_expanding_ring_widens_and_at_last_floods_until_all_have_refused():
    talk = Talk(B, D, search="expanding-ring", flood_ttl=3, lookahead_wait_ms=10)
    assert asked(talk.ask(stamp=5), "16") == {"B", "D"}
    sent = talk.wait(5_000)
    assert sent[:2] == [(10, name, f"16|5|2|room|r1|temp{hop(C)}") for name in "BD"]
    assert sent[2:] == [(30, name, f"3|5|room|r1|temp{hop(C)}") for name in "BD"], "and no wait tells that it is over"
    assert talk.hear(B, refusal(talk, 5, C)) == []
    assert talk.hear(D, refusal(talk, 5, C)) == [talk.nack(202, REQUEST, 5)]


def test_a_flood_goes_on_for_a_copy_that_has_more_hops_to_spare_and_for_no_other():
    talk = Talk(B, D, E, search="flood", flood_ttl=3)
    assert talk.ask(source=B, hops=[C, E, D], stamp=5) == [("B", refusal(talk, 5, C, E, D))], "none to spare"
    assert asked(talk.ask(source=B, hops=[C, D], stamp=5)) == {"D", "E"}
    assert talk.ask(source=E, hops=[C, D], stamp=5) == [("E", refusal(talk, 5, C, D))], "as many as before"
    assert asked(talk.ask(source=D, hops=[C], stamp=5)) == {"B", "E"}


def test_a_lookahead_is_answered_along_its_hops_or_by_silence():
    talk = Talk(B, D)
    look = f"16|5|1|room|r1|temp{hop(C)}"
    assert talk.hear(B, look) == []
    talk.provide(payload="x=11")
    assert talk.hear(B, look) == [], "seen before"
    assert talk.hear(B, look.replace("16|5", "16|6")) == [("B", found(talk, f"{hop(C)}|*"))]


def test_a_lookahead_of_ttl_2_is_passed_on_and_its_answer_comes_back():
    talk = Talk(B, D, E)
    sent = talk.hear(B, f"16|5|2|room|r1|temp{hop(C)}")
    assert sent == [(name, f"16|5|1|room|r1|temp{hop(C, B)}") for name in "DE"]
    assert talk.hear(E, found(talk, hop(C, B))) == [("B", found(talk, hop(C)))]


def test_a_wider_lookahead_of_a_query_seen_before_goes_on():
    talk = Talk(B, D)
    assert talk.hear(B, f"16|5|1|room|r1|temp{hop(C)}") == []
    assert asked(talk.hear(B, f"16|5|2|room|r1|temp{hop(C)}"), "16") == {"D"}
    assert asked(talk.hear(B, f"16|5|3|room|r1|temp{hop(C)}"), "16") == {"D"}
    assert talk.stats()["pending"] == 1
    assert talk.hear(D, found(talk, hop(C, B))) == [("B", found(talk, hop(C)))]


def test_no_flood_goes_farther_than_our_own_setting():
    talk = Talk(B, D, flood_ttl=3)
    assert talk.hear(B, f"16|5|255|room|r1|temp{hop(C)}") == [("D", f"16|5|3|room|r1|temp{hop(C, B)}")]


def test_a_strangers_lookahead_floods_nobody():
    talk = Talk(B, D)
    assert talk.hear(STRANGER, f"16|5|2|room|r1|temp{hop(C)}") == []
    assert talk.stats()["rejected_command"] == 1


def test_a_query_floods_once_for_each_ttl_that_we_would_send():
    talk = Talk(B, D, flood_ttl=2)
    sent = [talk.hear(B, f"16|5|{ttl}|room|r1|temp{hop(C)}") for ttl in range(2, 256)]
    assert sum(map(len, sent)) == 2


def test_a_lookahead_goes_no_farther_than_a_walk():
    talk = Talk(B, D, walk_ttl=2)
    assert asked(talk.hear(B, f"16|5|2|room|r1|temp{hop(C)}"), "16") == {"D"}
    assert talk.hear(B, f"16|6|2|room|r1|temp{hop(C, E)}") == []


def test_what_others_look_for_takes_no_room_from_requests_and_is_soon_forgotten():
    talk = Talk(B, D, pending_capacity=2)
    for stamp in range(5, 10):
        talk.hear(B, f"16|{stamp}|2|room|r1|temp{hop(C)}")
    assert asked(talk.ask()), "there is room"
    talk.wait(10_000 // 7)
    assert talk.stats()["pending"] == 1, "as long as the widest of seven rings may wait"


# ---- what is remembered


def test_what_is_here_is_answered_however_much_is_remembered():
    talk = Talk(B, walk_policy="backtrack", pending_capacity=3)
    talk.provide(payload="x=11")
    for stamp in range(5, 20):
        assert talk.ask(stamp=stamp)[1] == ("C", found(talk))
        assert talk.ask(stamp=stamp)[1] == ("C", found(talk)), "a datagram that came twice"


def test_of_more_queries_than_there_is_room_for_the_oldest_are_forgotten():
    talk = Talk(B, D, walk_policy="backtrack", pending_capacity=16)
    for stamp in range(5, 22):
        talk.ask(source=B, hops=[C], stamp=stamp)
        assert talk.hear(D, found(talk, hop(C, B))), "it is answered, and its place in the table free"
    for stamp in range(21, 6, -1):
        assert talk.ask(source=D, hops=[C, E], stamp=stamp) == [("D", refusal(talk, stamp, C, E))]
    assert [asked(talk.ask(source=D, hops=[C, E], stamp=stamp)) for stamp in (6, 5)] == [{"B"}, {"B"}]


# ---- without acknowledgements


def test_a_quiet_request_gets_one_answer():
    talk = Talk(B)
    assert talk.hear(C, "32|5|room|r1|temp") == [("B", f"3|5|room|r1|temp{hop(C)}")]
    assert talk.hear(B, found(talk, hop(C))) == [("C", found(talk))]
    talk.provide(payload="x=11")
    assert talk.hear(C, "32|6|room|r1|temp") == [("C", found(talk))]
    assert Talk().hear(C, "32|7|room|r1|temp") == [talk.nack(202, REQUEST, 7)]
    assert talk.hear(B, f"32|8|room|r1|temp{hop(C)}") == [("B", found(talk, f"{hop(C)}|*"))], "as a 3"


# ---- whoever is gone is waited for no longer


def test_an_exhaustive_walk_goes_on_without_a_neighbour_that_died():
    talk = Talk(B, D, walk_policy="backtrack", ping_interval_ms=100, ping_misses=1)
    dead = asked(talk.ask(stamp=5)).pop()
    living = {"B": D, "D": B}[dead]
    talk.hear(living, "0|1")
    sent = []
    for _ in range(4):
        talk.hear(living, f"9|1|Ctx_Broker|{living[0]}:{living[1]}")
        sent += talk.wait(100)
    assert {(name, text) for _, name, text in sent if text.startswith("3|")} == {
        ({"B": "D", "D": "B"}[dead], f"3|5|room|r1|temp{hop(C)}")
    }


def test_a_walk_takes_what_a_neighbour_says_that_has_just_left():
    talk = Talk(B)
    talk.ask(stamp=5)
    talk.hear(B, "7|9|*")
    talk.wait(5_000)
    assert talk.ask(stamp=5) == [talk.ack(101, REQUEST)], "it still waits"
    assert talk.hear(B, found(talk, hop(C)))[0][0] == "C"


def test_no_absence_is_proved_while_one_that_died_was_not_heard():
    talk = Talk(B, D, walk_policy="backtrack")
    first = asked(talk.ask(stamp=5)).pop()
    gone, other = (B, D) if first == "B" else (D, B)
    talk.hear(gone, "7|9|*")
    assert asked([sent[1:] for sent in talk.wait(1_000)]) == {{B: "B", D: "D"}[other]}
    assert talk.hear(other, refusal(talk, 5, C)) == []
    assert talk.wait(10_000) == []


# ---- the guide


def code_blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.fixture
def checkout(tmp_path):
    """A copy of the packages that it takes, changed as the guide says."""
    for package in ("overlay", "telemetry"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (module,) = code_blocks(ROOT / "docs/add-a-search-strategy.md")
    (tmp_path / "overlay/systems/context_broker/broker/search/two_then_all.py").write_text(module)
    return tmp_path


STORY = """
from overlay.systems.context_broker.broker.config import BrokerConfig
from telemetry.systems.context_broker.lab.overlay import Overlay
from overlay.systems.registry import SYSTEMS
from overlay.topologies import generate

setting = next(s for s in SYSTEMS["context-broker"].settings if s.name == "search")
assert "two-then-all" in setting.choices
overlay = Overlay(generate("grid", 16), BrokerConfig(search="two-then-all"), seed=3)
overlay.start()
overlay.put(15, ("room", "r1", "climate"), b"degC=21.5")
print(overlay.get(0, ("room", "r1", "climate")).outcome, overlay.get(0, ("room", "r2", "climate")).outcome)
"""


def run_in(checkout, *arguments):
    told = subprocess.run(
        [sys.executable, *arguments], cwd=checkout, capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert told.stderr == ""
    return told.stdout


def test_the_guides_strategy_is_one_file_and_a_choice_and_finds(checkout):
    assert run_in(checkout, "-c", STORY).split() == ["answered", "not_found"]
    printed = "".join(run_in(checkout, "-m", "overlay", "broker", "--help").split())  # lines may break at hyphens
    assert "two-then-all:twoneighboursatrandom" in printed


def test_the_settings_page_is_no_file_to_change_for_a_new_strategy(checkout):
    """What is printed has one line more than the page, which the page's own test passes over."""
    printed = run_in(checkout, "-m", "overlay", "settings", "--markdown").splitlines()
    page = (ROOT / "docs/settings.md").read_text().splitlines()
    added = "  - `two-then-all`: two neighbours at random, and all others if both refuse"
    assert [line for line in printed if line != added] == page
    assert printed.count(added) == 1
