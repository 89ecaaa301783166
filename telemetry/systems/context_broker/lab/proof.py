"""What exhaustive search promises, shown on random graphs: every query is answered or proved not found."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from overlay.core.chance import derive_seed
from overlay.core.links import Link
from overlay.topologies import Graph
from telemetry.systems.context_broker.lab.virtual import VirtualArena


def random_graph(random: Random) -> Graph:
    """A connected graph of 2 to 30 brokers: a tree, or a random graph of any density, made connected by a tree."""
    brokers = random.randint(2, 30)
    tree = {(random.randrange(i), i) for i in range(1, brokers)}
    density = random.choice([0.0, 0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
    more = {(a, b) for b in range(brokers) for a in range(b) if random.random() < density}
    order = random.sample(range(brokers), brokers)
    return Graph(brokers, tuple(Link(order[a], order[b]) for a, b in sorted(tree | more)))


def prove(graphs: int, first: int = 0, settings: Mapping[str, Any] | None = None) -> list[str]:
    """Ask on each of so many random graphs for what one broker has and for what none has; sentences on what failed.

    A query is to be answered or proved not found, with two messages on a link at most.
    """
    failed = []
    for seed in range(first, first + graphs):
        graph = random_graph(Random(derive_seed(seed, "graph")))
        arena = VirtualArena(graph, {"walk_policy": "backtrack", **(settings or {})}, seed, checked=graph.brokers < 12)
        random = Random(derive_seed(seed, "queries"))
        holder, asked = random.sample(range(graph.brokers), 2)
        arena.place(("room", "there", "climate"), holder)
        for entity, outcome in (("there", "answered"), ("nowhere", "not_found")):
            told = arena.ask(("room", entity, "climate"), asked, (holder,))
            if told.outcome != outcome:
                failed.append(f"graph {seed}: what is {entity} was {told.outcome}")
            if told.messages > 2 * len(graph.links):
                failed.append(f"graph {seed}: {told.messages} messages on {len(graph.links)} links")
    return failed
