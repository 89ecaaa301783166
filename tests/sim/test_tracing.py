"""Traces of whole overlays in virtual time: what all brokers report of one query, joined."""

import pytest

from overlay.core.node import SECOND
from overlay.journal.facts import Start
from overlay.sim.world import server_address
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.reports import make_traces
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry
from overlay.topologies import generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from telemetry.systems.context_broker.traces import Gathered, Query

ROOM = ("room", "r1", "climate")
ABSENT = ("room", "r2", "climate")
ONCE = Retry(again_s=(), give_up_s=12)
HARDLY_ANY = 1_000_000


def started(**settings: object) -> Overlay:
    graph = generate("ring", 6, {"delay_ms": 1})
    overlay = Overlay(graph, BrokerConfig(**settings), seed=3)
    overlay.start()
    return overlay


def asked(overlay: Overlay, index: int, key: tuple[str, str, str]) -> Exchange:
    exchange = overlay.ask(index, questions.request(key), ONCE)
    overlay.finish([exchange])
    return exchange


def joined(overlay: Overlay) -> list[Query]:
    gathered = Gathered()
    for index in range(overlay.graph.brokers):
        host, port = server_address(index)
        gathered.add_start(Start(f"broker-{index}", 1, 0, "", f"{host}:{port}"))
    for index in overlay.brokers:
        for trace in make_traces(f"broker-{index}", overlay.broker(index).traces(), 0):
            gathered.add(trace)
    return list(gathered.queries())


@pytest.mark.parametrize("search", STRATEGIES)
def test_every_strategys_search_is_one_trace_that_agrees_with_the_counters(search: str) -> None:
    overlay = started(search=search, trace_one_in=1, replication_index=1)
    overlay.put(3, ROOM, b"degC=21.5")
    exchange = asked(overlay, 0, ROOM)
    overlay.run_for(SECOND)
    (query,) = joined(overlay)
    assert (exchange.outcome, query.outcome, query.asked) == ("answered", "answered", 0)
    assert query.us <= (exchange.ended_at - exchange.sent_at) // 1000
    assert query.requests == sum(overlay.statistics("forwards"))
    assert sum(hop.kind == "lookahead" for hop in query.hops) == sum(overlay.statistics("lookaheads"))
    assert len(query.replicas) == sum(overlay.statistics("replicas"))
    assert not query.is_partial
    assert {hop.us // 1000 for hop in query.hops if hop.us is not None} == {1}


@pytest.mark.parametrize("search", STRATEGIES)
def test_a_query_that_fails_is_told_although_it_was_not_sampled(search: str) -> None:
    overlay = started(search=search, trace_one_in=HARDLY_ANY)
    overlay.put(3, ROOM, b"degC=21.5")
    assert asked(overlay, 1, ROOM).outcome == "answered"
    found = asked(overlay, 0, ABSENT)
    overlay.run_for(12 * SECOND)
    queries = [query for query in joined(overlay) if query.entity == "|".join(ABSENT)]
    assert [query.outcome for query in queries] == [{"not_found": "not_found", "timed_out": "lost"}[found.outcome]]


def test_a_query_whose_broker_died_is_lost_and_says_which_broker_is_silent() -> None:
    overlay = started(trace_one_in=HARDLY_ANY, replication_index=0, ping_misses=100)
    overlay.put(3, ROOM, b"degC=21.5")
    for index in (1, 5):
        overlay.kill(index)
    assert asked(overlay, 0, ROOM).outcome == "timed_out"
    (query,) = joined(overlay)
    assert (query.outcome, query.us, query.is_partial) == ("lost", None, True)
    assert set(query.silent) <= {1, 5}
    assert [step.step for step in query.steps] == ["received", "forwarded", "expired"]


def test_a_query_that_is_answered_and_not_sampled_is_told_nowhere() -> None:
    overlay = started(trace_one_in=HARDLY_ANY)
    overlay.put(3, ROOM, b"degC=21.5")
    assert asked(overlay, 0, ROOM).outcome == "answered"
    overlay.run_for(12 * SECOND)
    assert joined(overlay) == []
