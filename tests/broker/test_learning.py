"""What a strategy may know and remember: what became of its moves, what neighbours say of themselves, by broker."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.search.walk import Walk
from tests.broker.examples.highest_degree import HighestDegree
from tests.broker.examples.learned import Learned
from tests.broker.transcript import STRANGER, B, C, D, E, Talk, hop
from tests.thorough import thoroughly
from tests.waiting import BOUND_S

ROOT = Path(__file__).parents[2]
EXAMPLES = Path(__file__).parent / "examples"


def found(talk, tail=""):
    return f"4|{talk.wall}|4|p1|room|r1|temp|{talk.wall - 1000}|{talk.wall + 120_000}|x=11{tail}"


def refusal(talk, stamp, *hops):
    return talk.nack(202, "ContextRequest", stamp)[1] + hop(*hops)


class Told(Walk):
    """Keeps what it is told, in words."""

    def __init__(self, config):
        super().__init__(config)
        self.told = []

    def decide(self, view):
        self.view = view
        return super().decide(view)

    def note_success(self, outcome):
        self._note("found by", outcome)

    def note_failure(self, outcome):
        self._note("not by", outcome)

    def _note(self, words, outcome):
        names = {B: "B", D: "D", E: "E"}
        self.told.append((words, names[outcome.neighbour], outcome.elapsed_ns // MILLISECOND, outcome.hops))


@pytest.fixture
def told(monkeypatch):
    """Brokers whose walks are such, and what the strategy of one of them was told."""
    monkeypatch.setitem(STRATEGIES, "walk", Told)
    return lambda talk: talk.broker._searching._strategy.told


def ask(talk, stamp=5, **chosen):
    """To whom a request goes that comes from the consumer, or from ``source`` with ``hops``."""
    sent = talk.ask(stamp=stamp, **chosen)
    return {"B": B, "D": D, "E": E}[next(name for name, text in sent if text.startswith("3|"))]


def name_of(address):
    return {B: "B", D: "D", E: "E"}[address]


# ---- what became of it


def test_a_strategy_is_told_who_refused_and_who_found_it_and_after_how_long(told):
    talk = Talk(B, D)
    first = ask(talk, source=E, hops=[C])
    talk.wait(30)
    talk.hear(first, refusal(talk, 5, C, E))
    second = B if first == D else D
    talk.wait(20)
    talk.hear(second, found(talk, hop(C, E)))
    assert told(talk) == [("not by", name_of(first), 30, 2), ("found by", name_of(second), 20, 2)]


def test_silence_is_a_failure_when_the_wait_is_over(told):
    talk = Talk(B, pending_deadline_ms=300)
    ask(talk)
    talk.wait(299)
    assert told(talk) == []
    talk.wait(1)
    assert told(talk) == [("not by", "B", 300, 1)]


def test_who_is_gone_has_failed_and_may_yet_have_found_it(told):
    talk = Talk(B)
    ask(talk)
    talk.hear(B, "7|9|*")
    talk.wait(1_000)
    assert [words for words, *_ in told(talk)] == ["not by"]
    talk.hear(B, found(talk, hop(C)))
    assert [words for words, *_ in told(talk)] == ["not by", "found by"]


def test_a_neighbour_asked_once_fails_at_most_once(told):
    talk = Talk(B)
    ask(talk)
    talk.hear(B, "7|9|*")
    talk.wait(1_000)
    talk.hear(B, refusal(talk, talk.wall - 1_000, C))
    talk.hear(B, refusal(talk, 5, C))
    assert [words for words, *_ in told(talk)] == ["not by"]


def test_what_answers_nothing_is_told_to_nobody(told):
    talk = Talk(B)
    ask(talk)
    talk.hear(D, found(talk, hop(C)))
    talk.hear(B, refusal(talk, 6, C))
    assert told(talk) == []


def test_what_a_lookahead_brings_is_a_success_of_the_neighbour_that_it_went_to(monkeypatch):
    monkeypatch.setitem(STRATEGIES, "lookahead", type("Looking", (Told, STRATEGIES["lookahead"]), {}))
    talk = Talk(B, D, search="lookahead")
    talk.ask(stamp=5)
    talk.wait(4)
    talk.hear(D, found(talk, hop(C)))
    assert talk.broker._searching._strategy.told == [("found by", "D", 4, 1)]


def test_each_broker_has_a_strategy_of_its_own(told):
    one, other = Talk(B), Talk(B)
    ask(one)
    one.hear(B, refusal(one, 5, C))
    assert (told(one), told(other)) == ([("not by", "B", 0, 1)], [])


def test_a_learned_walk_goes_where_it_found_before(monkeypatch):
    monkeypatch.setitem(STRATEGIES, "walk", Learned)
    talk = Talk(B, D, E, walk_policy="avoid")
    for stamp in range(100, 200):
        asked = ask(talk, stamp)
        talk.hear(asked, found(talk, hop(C)) if asked == D else refusal(talk, stamp, C))
    last = [ask(talk, stamp) for stamp in range(200, 240)]
    assert last.count(D) > 30


# ---- what neighbours say


def say(talk, neighbour, **counters):
    text = ";".join(f"{name}={value}" for name, value in counters.items())
    return talk.hear(neighbour, f"21|1|{text}")


def test_neighbours_are_asked_for_their_degree_only_where_the_strategy_wants_it(monkeypatch):
    assert Talk(B).wait(60_000) == []
    monkeypatch.setitem(STRATEGIES, "walk", HighestDegree)
    talk = Talk(B, D, ping_interval_ms=1000)
    sent = [(after, name, text.partition("|")[0]) for after, name, text in talk.wait(9_999)]
    assert sent == [(after, name, "20") for after in (0, 5_000) for name in "BD"]
    talk.hear(E, "8|1|10.0.0.5:4005|*")
    assert [(after, name) for after, name, _ in talk.wait(1)] == [(0, "E"), (1, "B"), (1, "D"), (1, "E")]


def test_the_walk_goes_to_the_neighbour_with_the_most_neighbours(monkeypatch):
    monkeypatch.setitem(STRATEGIES, "walk", HighestDegree)
    talk = Talk(B, D, E)
    talk.wait(1)
    for neighbour, degree in ((B, 3), (D, 7), (E, 2)):
        assert say(talk, neighbour, neighbours=degree) == []
    assert [ask(talk, stamp) for stamp in range(5, 15)] == [D] * 10
    assert ask(talk, 20, source=D, hops=[C]) == B, "the best that is not on the path"


def test_a_view_holds_what_is_known_and_none_for_the_rest(told, monkeypatch):
    monkeypatch.setattr(Told, "watches", True)
    talk = Talk(B, D, ping_interval_ms=200)
    talk.wait(1)
    say(talk, B, neighbours=3, in_3=10, in_4=20, out_3=99, uptime=1_000)
    ask(talk)
    view = talk.broker._searching._strategy.view
    assert (view.address, view.key, view.is_origin) == (talk.broker.address, b"room|r1|temp", True)
    assert [(view.degree(one), view.load(one)) for one in (B, D)] == [(3, None), (None, None)]
    talk.wait(1_000)
    say(talk, B, neighbours=4, in_3=10, in_4=70, uptime=2_000)
    ask(talk, 6)
    view = talk.broker._searching._strategy.view
    assert (view.degree(B), view.load(B)) == (4, 50.0)
    talk.wait(1_000)
    say(talk, B, neighbours=4, in_3=1, uptime=30)
    ask(talk, 7)
    assert talk.broker._searching._strategy.view.load(B) is None, "it was started again"
    talk.hear(B, "7|9|*")
    talk.wait(1_000)
    talk.hear(B, "8|1|10.0.0.2:4002|*")
    ask(talk, 8)
    assert talk.broker._searching._strategy.view.degree(B) is None, "a neighbour again"


def test_what_nobody_asked_about_itself_counts_for_nothing(told, monkeypatch):
    monkeypatch.setattr(Told, "watches", True)
    talk = Talk(B, D)
    talk.wait(1)
    say(talk, B, neighbours=3)
    before = talk.stats()["rejected_stray"]
    for liar in (B, E, STRANGER):
        say(talk, liar, neighbours=1000)
    ask(talk)
    assert talk.broker._searching._strategy.view.degree(B) == 3
    assert talk.stats()["rejected_stray"] - before == 3


# ---- what it reads


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_says_which_settings_it_reads(name):
    read = set()

    class Noting(BrokerConfig):
        def __getattribute__(self, attribute):
            if attribute in BrokerConfig.__dataclass_fields__:
                read.add(attribute)
            return super().__getattribute__(attribute)

    config = Noting()
    read.clear()
    STRATEGIES[name](config)
    assert read == set(STRATEGIES[name].uses)


# ---- the same again, in one process and in others


STORY = """
import sys
from overlay.systems.context_broker.broker.config import BrokerConfig
from telemetry.systems.context_broker.lab.overlay import Overlay
from overlay.topologies import generate
from overlay.systems.context_broker.workload import Workload

def digest():
    graph = generate("barabasi-albert", 12, {"delay_ms": 2, "jitter_ms": 1}, seed=4)
    overlay = Overlay(graph, BrokerConfig(search=sys.argv[1], replication="none"), seed=7)
    overlay.start()
    overlay.add_clients(Workload(
        providers=6, entities=6, consumers=8, duration_s=12, stagger_ms=10, assignment="random",
        update_interval_s=2, request_interval_s=0.5,
    ))
    overlay.run_for(15 * 10**9)
    assert sum(overlay.statistics("forwards")) > 100
    return overlay.simulator.digest

print(*(digest() for _ in range(3)))
"""


@thoroughly
@pytest.mark.parametrize("name", ["highest-degree", "learned"])
def test_what_learns_comes_out_the_same_in_one_process_and_in_others(name, tmp_path):
    for package in ("overlay", "telemetry"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(EXAMPLES / f"{name.replace('-', '_')}.py", tmp_path / "overlay/systems/context_broker/broker/search")
    told = [
        subprocess.run(
            [sys.executable, "-c", STORY, name],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )
        for seed in ("0", "1")
    ]
    assert [process.stderr for process in told] == ["", ""]
    digests = [digest for process in told for digest in process.stdout.split()]
    assert (len(digests), len(set(digests))) == (6, 1)
