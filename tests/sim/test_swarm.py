"""Swarm: each seed draws a topology, a configuration, links and a random subset of faults, and the witness watches.

A failure prints its seed; ``pytest tests/sim/test_swarm.py -k "seed[17]"`` runs that one again, and
``WAXWING_SWARM=10000`` in the environment runs so many.
"""

import os
from dataclasses import dataclass, replace
from random import Random

import pytest

from overlay.broker.config import LOOPBACK, BrokerConfig
from overlay.broker.replication import REPLICATIONS
from overlay.broker.search import STRATEGIES
from overlay.broker.walks import POLICIES
from overlay.clients import questions
from overlay.clients.exchange import Exchange
from overlay.errors import InvalidSetting
from overlay.links import LinkShape
from overlay.node import MILLISECOND, SECOND
from overlay.sim.harness import CONTROLLER_HOST, Overlay
from overlay.sim.network import LOCAL
from overlay.topologies import KINDS, Graph, generate
from tests.sim.witness import Witness

SEEDS = int(os.environ.get("WAXWING_SWARM", "50"))
STORM = 20 * SECOND
CALM = 15 * SECOND
"""After the storm links are clean and brokers are back; so soon the overlay is right again."""
BAD = LinkShape(delay_ms=1, loss=0.1, duplication=0.2, reordering=0.2)
FAULTS = (
    *("loss", "bursts", "duplication", "reordering", "corruption", "rate"),
    *("kill", "partition", "cut", "leave", "clients' links"),
)
STRANGERS = f"127.1.0.0/16,{CONTROLLER_HOST}/32"
"""Trusted networks that hold the brokers and the controller, and no client."""


@dataclass
class Plan:
    """What one seed draws."""

    graph: Graph
    config: BrokerConfig
    faults: frozenset[str]
    shape: LinkShape


def draw_graph(random: Random) -> Graph:
    while True:
        kind = random.choice([kind for kind in KINDS if kind not in ("custom", "central")])
        params = {"delay_ms": random.uniform(0, 5), "delay_spread_ms": random.uniform(0, 20)}
        try:
            return generate(kind, random.randint(2, 9), params, random.randrange(1 << 30))
        except InvalidSetting:  # such as a ring of two
            continue


def draw_plan(random: Random) -> Plan:
    faults = frozenset(fault for fault in FAULTS if random.random() < 0.35)
    shape = LinkShape(
        delay_ms=random.uniform(0, 10),
        loss=random.uniform(0, 0.3) if faults & {"loss", "bursts"} else 0,
        loss_burst=random.uniform(1, 4) if "bursts" in faults else 0,
        duplication=0.25 if "duplication" in faults else 0,
        reordering=0.25 if "reordering" in faults else 0,
        corruption=0.1 if "corruption" in faults else 0,
        rate_bytes_per_s=20_000 if "rate" in faults else 0,
    )
    config = BrokerConfig(
        search=random.choice(list(STRATEGIES)),
        walk_policy=random.choice(list(POLICIES)),
        walkers=random.choice([1, 3]),
        flood_ttl=random.choice([1, 3, 7]),
        flood_degree=random.choice([1, 2]),
        lookahead_ttl=random.choice([1, 2]),
        walk_ttl=random.choice([0, 0, 1, 5]),
        replication=random.choice([*REPLICATIONS, "random"]),
        replication_index=random.choice([0, 1, 2, 100]),
        replica_refresh=random.choice([True, False]),
        hop_ack=random.choice([True, False]),
        hop_tries=random.choice([1, 5]),
        indirect_probes=random.choice([0, 3]),
        gone_ttl=random.choice([0, 2]),
        trace_one_in=random.choice([0, 1, 100]),
        trace_steps=random.choice([100, 2_000]),
        replication_threshold_ms=random.choice([0, 20_000, 60_000]),
        pending_capacity=random.choice([1, 3, 10_000]),
        pending_deadline_ms=random.choice([300, 3000, 10_000]),
        table=random.choice(["indexed", "linear"]),
        table_entries=random.choice([2, 100_000]),
        table_bytes=random.choice([500, 1 << 20]),
        trusted_networks=random.choice([LOOPBACK, LOOPBACK, STRANGERS]),
    )
    return Plan(draw_graph(random), config, faults, shape)


def storm(overlay: Overlay, plan: Plan, random: Random) -> None:
    """Schedule the faults of ``plan`` from now on; all end with the storm."""
    now, everyone = overlay.simulator.now, list(range(plan.graph.brokers))
    end = now + STORM
    clean = {link: link.shape() for link in plan.graph.links}
    for link, shape in clean.items():
        overlay.at(now, lambda ends=link.ends: overlay.lay(*ends, plan.shape))
        overlay.at(end, lambda ends=link.ends, shape=shape: overlay.lay(*ends, shape))
    if "kill" in plan.faults:
        for victim in random.sample(everyone, random.randint(1, len(everyone))):
            time = now + random.randrange(STORM - SECOND)
            overlay.at(time, lambda victim=victim: overlay.kill(victim))
            overlay.at(random.randrange(time + MILLISECOND, end), lambda victim=victim: overlay.restart(victim))
    if "partition" in plan.faults:
        side = random.sample(everyone, len(everyone) // 2)
        other = [i for i in everyone if i not in side]
        overlay.at(now + random.randrange(STORM), lambda: overlay.separate(side, other))
        overlay.at(end, overlay.heal)
    if "cut" in plan.faults and plan.graph.links:
        link = random.choice(plan.graph.links)
        gone = replace(plan.shape, partition=True)
        overlay.at(now + random.randrange(STORM), lambda: overlay.lay(*link.ends, gone))
    if "leave" in plan.faults:
        leaver = random.choice(everyone)
        overlay.at(now + random.randrange(STORM), lambda: overlay.ask(leaver, questions.leave()))


def traffic(overlay: Overlay, random: Random, exchanges: list[Exchange]) -> None:
    """Updates and requests about a few entities, of any broker, throughout the storm and the calm."""
    now, brokers = overlay.simulator.now, overlay.graph.brokers
    for i in range(120):
        key = ("room", f"r{random.randrange(4)}", "climate")
        if random.random() < 0.3:
            valid_ms = random.choice([500, 5000, 60_000, 120_000])
            question = questions.update("U", f"p{random.randrange(3)}", key, valid_ms, b"n=%d|*" % i)
        else:
            question = questions.request(key)
        asked = random.randrange(brokers)
        overlay.at(
            now + random.randrange(STORM + CALM), lambda q=question, b=asked: exchanges.append(overlay.ask(b, q))
        )


@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_happens_seed(seed: int) -> None:
    random = Random(seed)
    plan = draw_plan(random)
    local = (
        LinkShape(delay_ms=1, loss=0.1, duplication=0.2, reordering=0.2) if "clients' links" in plan.faults else LOCAL
    )
    honest = "corruption" not in plan.faults  # else brokers are told of others that never were
    overlay = Overlay(plan.graph, plan.config, seed, local=local, strict=honest)
    Witness(overlay, honest=honest)
    overlay.start()
    assert overlay.wrong_neighbours() == {}
    exchanges: list[Exchange] = []
    traffic(overlay, random, exchanges)
    storm(overlay, plan, random)
    overlay.run_for(STORM + CALM)
    if "leave" not in plan.faults:  # who left stays away until it is ordered to join again
        assert overlay.wrong_neighbours() == {}, plan
    overlay.run_for(22 * SECOND)

    assert len(exchanges) >= 120
    assert all(exchange.is_over and exchange.outcome for exchange in exchanges)
    assert all(exchange.ended_at - exchange.sent_at <= 10 * SECOND for exchange in exchanges)
    assert max(overlay.statistics("pending")) == 0
