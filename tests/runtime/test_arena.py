"""An overlay of processes with one query at a time, compared with the same in virtual time."""

import os
import signal
import subprocess
import sys

import pytest

from overlay.topologies import generate
from telemetry.systems.context_broker.lab.draws import arms
from telemetry.systems.context_broker.lab.live import ArenaFailed, LiveArena
from telemetry.systems.context_broker.lab.virtual import VirtualArena
from tests.waiting import BOUND_S, is_alive, wait_for

KEY = ("room", "r1", "climate")
NOWHERE = ("room", "nowhere", "climate")


@pytest.mark.parametrize("arm", [arm for arm in arms() if arm != "structured"])
def test_one_query_costs_and_finds_what_it_does_in_virtual_time(arm: str) -> None:
    """On a line there is one way, and shallow floods are waited for long: no chance, and no busy machine, has a say."""
    graph, settings = generate("line", 4), {**arms()[arm], "lookahead_wait_ms": 100}
    virtual = VirtualArena(graph, settings, 1)
    with LiveArena(graph, settings, 1) as live:
        told = {}
        for arena in (virtual, live):
            arena.place(KEY, 3)
            there, not_there = arena.ask(KEY, 0, [3]), arena.ask(NOWHERE, 0)
            told[arena] = [(query.outcome, query.messages, query.datagrams, query.hops) for query in (there, not_there)]
            assert there.latency_ms >= 2 * there.hops, "links of 1 ms, there and back"
        assert told[live] == told[virtual]


def test_the_structured_arm_puts_an_entry_where_it_belongs() -> None:
    settings = {"arm": "structured", "dht_refresh_ms": 60_000, "dht_replicas": 1}
    with LiveArena(generate("full-mesh", 4), settings, 1) as arena:
        wait_for(lambda: arena.total("contacts") == 4 * 3, "all know all")
        arena.place(KEY, 0)
        told = [arena.ask(KEY, broker) for broker in range(4)]
        assert {query.outcome for query in told} == {"answered"}
        assert sorted(query.hops for query in told) == [0, 1, 1, 1], "one of them has it"
        assert sorted(query.datagrams for query in told) == [0, 2, 2, 2], "nothing of the placing, and no upkeep"
        assert arena.ask(NOWHERE, 0).outcome == "not_found"


def test_at_its_end_no_process_is_left() -> None:
    with LiveArena(generate("ring", 3), {}, 1) as arena:
        pids = arena.pids
        assert len(pids) == 3
        assert all(is_alive(pid) for pid in pids)
    assert not any(is_alive(pid) for pid in pids)


def test_a_broker_that_ends_ends_the_measuring() -> None:
    with LiveArena(generate("ring", 3), {}, 1) as arena:
        os.kill(arena.pids[1], signal.SIGKILL)
        with pytest.raises(ArenaFailed, match="a broker has ended"):
            arena.ask(KEY, 1)


OPENS = """
import time
from telemetry.systems.context_broker.lab.live import LiveArena
from overlay.topologies import generate
with LiveArena(generate("ring", 3), {}, 1) as arena:
    print(*arena.pids, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_however_the_one_who_measures_ends_no_broker_is_left(number: signal.Signals) -> None:
    measuring = subprocess.Popen(
        [sys.executable, "-c", OPENS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert measuring.stdout
    pids = [int(pid) for pid in measuring.stdout.readline().split()]
    assert len(pids) == 3
    measuring.send_signal(number)
    measuring.communicate(timeout=BOUND_S)
    wait_for(lambda: not any(is_alive(pid) for pid in pids), "they end with their parent")
