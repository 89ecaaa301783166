"""Requests over bad links between brokers: with acknowledgements from broker to broker all end in answers.

The links are those on which QUIC's implementations are tested (``overlay.core.links.PROFILES``). The brokers search by
``backtrack``, which finds what there is; a plain walk may miss it on a perfect network, too.
``WAXWING_LOSS=40`` in the environment asks so many seeds.
"""

import os
from collections import Counter
from dataclasses import replace

import pytest

from overlay.core.links import PROFILES, LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.sim.world import START_LIMIT
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry
from overlay.topologies import generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.sim.witness import Witness

SEEDS = int(os.environ.get("WAXWING_LOSS", "4"))
KEY = ("room", "r1", "climate")
WITHIN_30_S = Retry((1.0, 2.0, 4.0, 8.0, 16.0), 30.0)
CONFIG = BrokerConfig(walk_policy="backtrack", hop_ack=True, replication="none")


def bad(seed: int, shape: LinkShape, config: BrokerConfig = CONFIG) -> Overlay:
    """Ten brokers, one of which has the data, and bad links once they have joined."""
    overlay = Overlay(generate("waxman", 10, {}, seed), config, seed, monitoring=False)
    Witness(overlay)
    overlay.start()
    overlay.put(seed % 10, KEY, b"degC=21.5", valid_ms=3_600_000)
    for link in overlay.graph.links:
        overlay.lay(*link.ends, shape)
    return overlay


def ask(overlay: Overlay, requests: int, retry: Retry = WITHIN_30_S) -> list[Exchange]:
    """Requests to brokers that lack the data, five a second."""
    exchanges: list[Exchange] = []
    for i in range(requests):
        asked = (overlay.seed + 1 + i % 9) % 10
        time = overlay.simulator.now + i * SECOND // 5
        overlay.at(time, lambda b=asked: exchanges.append(overlay.ask(b, questions.request(KEY), retry)))
    overlay.run_for(requests * SECOND // 5 + 31 * SECOND)
    assert all(exchange.is_over for exchange in exchanges)
    return exchanges


def outcomes(exchanges: list[Exchange]) -> Counter[str]:
    return Counter(exchange.outcome for exchange in exchanges)


def figures(overlay: Overlay) -> dict[str, int]:
    names = ("forwards", "hits", "replicas", "stored", "out_4", "out_22", "hop_repeats", "hop_duplicates", "hop_lost")
    return {name: sum(overlay.statistics(name)) for name in names}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_at_30_percent_loss_50_of_50_are_answered(seed: int) -> None:
    overlay = bad(seed, PROFILES["L1"])
    exchanges = ask(overlay, 50)
    assert outcomes(exchanges) == {"answered": 50}
    assert figures(overlay)["hop_repeats"] > 50
    assert max(overlay.statistics("pending")) == 0


def test_without_acknowledgements_most_are_lost_at_30_percent() -> None:
    told: Counter[str] = Counter()
    for seed in range(SEEDS):
        told += outcomes(ask(bad(seed, PROFILES["L1"], replace(CONFIG, hop_ack=False)), 50))
    assert told["answered"] < 25 * SEEDS, told
    assert told["not_found"] == 0, "silence proves nothing"


@pytest.mark.parametrize("seed", range(2))
def test_at_2_percent_loss_all_are_answered(seed: int) -> None:
    """1,000 of 1,000 with five times the requests; clients hardly ever ask again."""
    exchanges = ask(bad(seed, PROFILES["L2"]), 200, Retry())
    assert outcomes(exchanges) == {"answered": 200}
    assert sum(exchange.attempts > 1 for exchange in exchanges) <= 2


@pytest.mark.parametrize("search", ["walk", "k-walkers", "flood", "lookahead", "expanding-ring"])
def test_every_strategy_ends_every_query_on_the_worst_links(search: str) -> None:
    overlay = bad(1, PROFILES["L1"], replace(CONFIG, search=search, walk_policy="avoid"))
    told = outcomes(ask(overlay, 20))
    assert sum(told.values()) == 20
    overlay.run_for(10 * SECOND)
    assert max(overlay.statistics("pending")) == 0


def test_what_is_nowhere_is_proved_absent_in_spite_of_loss() -> None:
    overlay = bad(2, PROFILES["L2"])
    absent = overlay.get(5, ("room", "none", "climate"))
    assert absent.outcome == "not_found"


def test_every_datagram_five_times_changes_nothing_and_is_answered_once() -> None:
    once = bad(3, LinkShape(delay_ms=15))
    often = bad(3, LinkShape(delay_ms=15, duplication=1.0))
    answers: Counter[tuple[str, int]] = Counter()
    clients = ("127.2.0.2",)
    often.simulator.on_sent.append(
        lambda now, data, source, to: answers.update([to] if to[0] in clients and data[:2] in (b"4|", b"6|") else [])
    )
    for overlay in (once, often):
        assert outcomes(ask(overlay, 30)) == {"answered": 30}
    assert set(answers.values()) == {1}
    assert len(answers) == 30
    for name in ("forwards", "hits", "replicas", "stored", "out_4", "out_22"):
        assert figures(often)[name] == figures(once)[name], name
    assert figures(often)["hop_duplicates"] == 4 * figures(often)["out_22"]


@pytest.mark.parametrize("shape", [LinkShape(delay_ms=15), PROFILES["L2"]], ids=["clean", "2 % loss"])
def test_brokers_that_know_it_and_brokers_that_do_not_make_one_overlay(shape: LinkShape) -> None:
    overlay = Overlay(generate("ring", 10), CONFIG, 5, monitoring=False)
    for index in range(10):
        overlay.config = replace(CONFIG, hop_ack=index % 3 == 0)
        overlay.restart(index)
    overlay.simulator.run_while(lambda: not overlay.controller.is_complete(), START_LIMIT)
    overlay.put(5, KEY, b"degC=21.5", valid_ms=3_600_000)
    for link in overlay.graph.links:
        overlay.lay(*link.ends, shape)
    first = overlay.get(0, KEY)
    assert first.outcome == "answered"
    assert first.ended_at - first.sent_at < 2 * SECOND, "no broker waits for acknowledgements that never come"
    assert outcomes(ask(overlay, 30)) == {"answered": 30}
    assert sum(overlay.statistics("hop_plain")) > 30


def test_a_neighbour_that_died_holds_a_query_up_for_the_tries_only() -> None:
    overlay = Overlay(generate("ring", 6, {"delay_ms": 5}), CONFIG, 1, monitoring=False)
    overlay.start()
    overlay.put(3, KEY, b"degC=21.5")
    for asked in (0, 0, 5, 1):
        overlay.get(asked, KEY)
    overlay.kill(1)
    exchange = overlay.get(0, KEY, Retry((), 20.0))
    assert exchange.outcome == "answered"
    assert exchange.ended_at - exchange.sent_at < 8000 * MILLISECOND, "200 ms and four doublings at the very most"
