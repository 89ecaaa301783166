"""Replication in a whole overlay, in virtual time: where copies come to lie, and how old their answers are."""

from random import Random

import pytest

from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients.exchange import Retry
from overlay.systems.context_broker.clients.questions import request
from overlay.topologies import generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.sim.witness import Witness

ROOM = ("room", "r1", "climate")
LINE = generate("line", 5, {"delay_ms": 1})


def started(config: BrokerConfig, graph=LINE, seed: int = 1) -> Overlay:
    overlay = Overlay(graph, config, seed)
    Witness(overlay)
    overlay.start()
    return overlay


@pytest.mark.parametrize(
    ("replication", "index", "replicas"),
    [
        ("none", 9, [0, 0, 0, 0, 0]),
        ("random", 9, [1, 1, 1, 1, 0]),
        ("path", 0, [1, 1, 1, 1, 0]),
        ("requester", 0, [1, 0, 0, 0, 0]),
    ],
)
def test_copies_lie_where_the_strategy_says(replication: str, index: int, replicas: list[int]) -> None:
    overlay = started(BrokerConfig(replication=replication, replication_index=index))
    overlay.put(4, ROOM, b"degC=21.5")
    assert overlay.get(0, ROOM).outcome == "answered"
    assert overlay.statistics("replicas") == replicas
    overlay.run_for(121 * SECOND)
    assert sum(overlay.statistics("entries")) == 0, "a replica ends with its original"


def stale_answers(*, refresh: bool, seed: int) -> int:
    """Of 60 answers, those that were not the newest value: ten brokers ask, one updates each second."""
    graph = generate("waxman", 10, {"mean_degree": 4, "delay_ms": 1}, seed=seed)
    overlay = started(BrokerConfig(walk_policy="backtrack", replication="path", replica_refresh=refresh), graph, seed)
    stale = 0
    for second in range(6):
        overlay.put(0, ROOM, b"n=%d" % second)
        overlay.run_for(SECOND)
        for broker in range(10):
            stale += overlay.get(broker, ROOM).reply.payload != b"n=%d" % second
    assert (sum(overlay.statistics("refreshed")) > 0) is refresh
    return stale


def test_refreshed_replicas_answer_with_the_newest_value() -> None:
    assert [stale_answers(refresh=True, seed=seed) for seed in range(5)] == [0] * 5


def test_replicas_that_nobody_refreshes_answer_with_what_they_were_given() -> None:
    assert all(stale_answers(refresh=False, seed=seed) > 30 for seed in range(5))


def test_a_value_goes_down_the_tree_of_replicas() -> None:
    """Broker 3 was marked by 4, and itself marked those that asked it: they hear of an update at 4 through it."""
    overlay = started(BrokerConfig(replication="path", replica_refresh=True, walk_policy="backtrack"))
    overlay.put(4, ROOM, b"n=0")
    for broker in (3, 2, 1, 0):
        overlay.get(broker, ROOM)
        overlay.run_for(3 * SECOND)  # until it is confirmed, and may have others keep one
    overlay.put(4, ROOM, b"n=1")
    overlay.run_for(SECOND)
    assert overlay.statistics("refreshed") == [1, 1, 1, 1, 0]
    assert overlay.statistics("refreshes_sent") == [0, 1, 1, 1, 1]
    assert [overlay.get(broker, ROOM).reply.payload for broker in range(5)] == [b"n=1"] * 5


def oldest_answer(seed: int, *, lease_s: int) -> tuple[float, int]:
    """For how many seconds there had been a newer value, at the worst; and how often replicas took it.

    Ten brokers are asked in turn for what one of them is given each second, while of the other nine three die.
    """
    graph = generate("waxman", 10, {"mean_degree": 4, "delay_ms": 1}, seed=seed)
    settings = {"replication": "path", "replica_refresh": True, "replica_lease_ms": lease_s * 1000}
    overlay = started(BrokerConfig(walk_policy="backtrack", **settings), graph, seed)
    chance, stored, oldest, alive = Random(seed), [], 0.0, list(range(1, 10))
    for second in range(100):
        if second in (20, 40, 60):
            overlay.kill(alive.pop(chance.randrange(len(alive))))
        overlay.put(0, ROOM, b"n=%d" % second)
        stored.append(overlay.simulator.now)
        overlay.run_for(SECOND // 2)
        exchanges = [overlay.ask(broker, request(ROOM), Retry(again_s=(), give_up_s=0.4)) for broker in alive]
        overlay.run_for(SECOND // 2)
        for exchange in exchanges:
            if exchange.outcome == "answered":
                served = int(exchange.reply.payload[2:])
                if served < second:
                    oldest = max(oldest, (exchange.ended_at - stored[served + 1]) / SECOND)
    return oldest, sum(overlay.statistics("refreshed"))


def test_no_answer_is_older_than_two_leases_whichever_brokers_die() -> None:
    """A replica whose value came through a broker that died was served until it expired, 59 updates old."""
    for seed in (3, 4, 5):
        oldest, refreshed = oldest_answer(seed, lease_s=4)
        assert refreshed > 100, "replicas follow"
        assert oldest <= 8.1, f"seed {seed}: {oldest:.1f} s"
