"""What a seed draws: an overlay, its settings, what its brokers' work takes, and which faults it will suffer."""

from dataclasses import dataclass, replace
from random import Random

from overlay.core.errors import InvalidSetting
from overlay.core.links import LinkShape
from overlay.sim.network import LOCAL
from overlay.sim.world import CONTROLLER_HOST
from overlay.systems.context_broker.broker.config import LOOPBACK, BrokerConfig
from overlay.systems.context_broker.broker.replication import REPLICATIONS
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.walks import POLICIES
from overlay.topologies import KINDS, Graph, generate

LINK_FAULTS = ("loss", "bursts", "duplication", "reordering", "corruption", "rate")
FAULTS = (
    *LINK_FAULTS,
    *("kill", "churn", "leave", "stop", "clock", "stranger"),
    *("partition", "one way", "swizzle", "cut", "clients' links"),
)
MORE_FAULTS = ("jitter", "document")
"""Drawn by a chance of their own, so that they did not make every seed another story."""
STRANGERS = f"127.1.0.0/16,{CONTROLLER_HOST}/32"
"""Trusted networks that hold the brokers and the controller, and no client."""
BAD = LinkShape(delay_ms=1, loss=0.1, duplication=0.2, reordering=0.2)
"""Between clients and their brokers, where that is a fault."""


@dataclass
class Plan:
    seed: int
    graph: Graph
    config: BrokerConfig
    faults: frozenset[str]
    shape: LinkShape
    """Of links between brokers while faults last."""
    service_scale: float = 0.0
    """Brokers take this much longer than ``tests.swarm.served`` has it; 0: no time at all."""
    scans: bool = False
    """Whether linear tables are really scanned; else what a scan compares is modelled, as simulations have it."""

    @property
    def is_honest(self) -> bool:
        """Whether links leave bytes alone: else brokers are told of others that never were."""
        return "corruption" not in self.faults

    @property
    def local(self) -> LinkShape:
        """Of all other ways, those between clients and brokers among them."""
        return BAD if "clients' links" in self.faults else LOCAL


def draw(seed: int) -> Plan:
    random = Random(seed)
    faults = frozenset(fault for fault in FAULTS if random.random() < 0.25)
    shape = LinkShape(
        delay_ms=random.uniform(0, 10),
        jitter_ms=0,
        loss=random.uniform(0, 0.3) if faults & {"loss", "bursts"} else 0,
        loss_burst=random.uniform(1, 4) if "bursts" in faults else 0,
        duplication=0.25 if "duplication" in faults else 0,
        reordering=0.25 if "reordering" in faults else 0,
        corruption=0.1 if "corruption" in faults else 0,
        rate_bytes_per_s=20_000 if "rate" in faults else 0,
    )
    plan = Plan(seed, draw_graph(random), draw_config(random), faults, shape)
    draw_more(plan, Random(f"extra {seed}"))
    return plan


def draw_more(plan: Plan, random: Random) -> None:
    plan.faults |= {fault for fault in MORE_FAULTS if random.random() < 0.25}
    plan.service_scale = random.choice([0, 0, 1, 10])
    plan.scans = random.random() < 0.5
    if "jitter" in plan.faults:
        share = random.random()
        plan.shape = replace(plan.shape, jitter_ms=share * plan.shape.delay_ms)
        links = tuple(replace(link, jitter_ms=share * link.delay_ms) for link in plan.graph.links)
        plan.graph = replace(plan.graph, links=links)


def draw_graph(random: Random) -> Graph:
    while True:
        kind = random.choice([kind for kind in KINDS if kind not in ("custom", "central")])
        params = {"delay_ms": random.uniform(0, 5), "delay_spread_ms": random.uniform(0, 20)}
        try:
            return generate(kind, random.randint(2, 9), params, random.randrange(1 << 30))
        except InvalidSetting:  # such as a ring of two
            continue


def draw_config(random: Random) -> BrokerConfig:
    return BrokerConfig(
        arm=random.choice(["unstructured"] * 4 + ["structured"]),
        search=random.choice(list(STRATEGIES)),
        walk_policy=random.choice(list(POLICIES)),
        walkers=random.choice([1, 3]),
        flood_ttl=random.choice([1, 3, 7]),
        flood_degree=random.choice([1, 2]),
        lookahead_ttl=random.choice([1, 2]),
        walk_ttl=random.choice([0, 0, 1, 5]),
        replication=random.choice([*REPLICATIONS, "random"]),
        replication_index=random.choice([0, 1, 2, 100]),
        replication_threshold_ms=random.choice([0, 20_000, 60_000]),
        replica_refresh=random.choice([True, False]),
        replica_lease_ms=3_000,  # some end within a story
        membership=random.choice(["given"] * 4 + ["greedy", "random"]),
        hop_ack=random.choice([True, False]),
        hop_tries=random.choice([1, 5]),
        indirect_probes=random.choice([0, 3]),
        gone_ttl=random.choice([0, 2]),
        trace_one_in=random.choice([0, 1, 100]),
        trace_steps=random.choice([100, 2_000]),
        pending_capacity=random.choice([1, 3, 10_000]),
        pending_deadline_ms=random.choice([300, 3000, 10_000]),
        table=random.choice(["indexed", "linear"]),
        table_entries=random.choice([2, 100_000]),
        table_bytes=random.choice([500, 1 << 20]),
        trusted_networks=random.choice([LOOPBACK, LOOPBACK, STRANGERS]),
        dht_replicas=random.choice([1, 2, 3]),
        dht_bucket=random.choice([3, 16]),
        dht_parallel=random.choice([1, 3]),
        dht_refresh_ms=random.choice([500, 5000]),
        dht_deadline_ms=random.choice([300, 5000]),
    )
