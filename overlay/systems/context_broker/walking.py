"""Estimates the length of walks on a topology by simulating them with the brokers' policies, without time or loss.

A walk starts at a random broker without the content, which is on a share of the brokers, drawn for each walk. It
ends when the content is found, when its policy returns no neighbour, or at the brokers' limit of hops. Equal graphs
give equal estimates.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from statistics import fmean, stdev
from typing import Any, cast

from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.errors import InvalidSetting, shown
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.walks import POLICIES, WalkPolicy
from overlay.topologies.graph import Graph
from overlay.topologies.walks import WalkEstimate

WALKS = 1_000
MOST_HOPS = 40_000
"""Maximum hops of all walks together: half a second. If walks are long, there are fewer."""
FEWEST = 20
HOLDERS = 0.01
"""Share of the brokers with the content; at least one."""
CONSUMER = -1
"""The first element of a request's path."""


def estimate(graph: Graph, policy: str = BrokerConfig.walk_policy, share: float = HOLDERS) -> WalkEstimate:
    """The estimate for a checked graph; the default policy is that of brokers.

    Raises ``InvalidSetting`` for an unknown policy.
    """
    if policy not in POLICIES:
        raise InvalidSetting("policy", f"must be one of {', '.join(POLICIES)}, not {shown(policy, 40)}")
    holders = max(1, round(share * graph.brokers))
    if graph.brokers <= holders:
        return WalkEstimate(policy, holders, 0, 0.0, None, None)
    walk = _depth_first if POLICIES[policy].is_exhaustive else _walk
    found, walked = _all(graph, POLICIES[policy], walk, holders, Stream(derive_seed(0, "walking", policy)))
    margin = 1.96 * stdev(found) / sqrt(len(found)) if len(found) > 1 else None
    return WalkEstimate(policy, holders, walked, len(found) / walked, fmean(found) if found else None, margin)


Walked = tuple[int, bool]
"""Hops, and whether the content was found."""
Walk = Callable[[list[list[int]], int, set[int], WalkPolicy, int, Chance], Walked]


def _all(graph: Graph, policy: WalkPolicy, walk: Walk, holders: int, chance: Chance) -> tuple[list[int], int]:
    """The hops of each successful walk, and the number of all walks."""
    neighbours, limit = graph.neighbours(), BrokerConfig().among(graph.brokers).ttl
    found: list[int] = []
    walked = spent = 0
    while walked < WALKS and (spent < MOST_HOPS or walked < FEWEST):
        start, *held = chance.sample(range(graph.brokers), holders + 1)
        hops, is_found = walk(neighbours, start, set(held), policy, limit, chance)
        walked, spent = walked + 1, spent + hops
        if is_found:
            found.append(hops)
    return found, walked


def _walk(
    neighbours: list[list[int]], start: int, held: set[int], policy: WalkPolicy, limit: int, chance: Chance
) -> Walked:
    at, path = start, [CONSUMER]
    while at not in held:
        chosen = _choose(policy, neighbours[at], path, chance)
        if chosen is None or len(path) >= limit:
            return len(path) - 1, False
        path.append(at)
        at = chosen
    return len(path) - 1, True


def _depth_first(
    neighbours: list[list[int]], start: int, held: set[int], policy: WalkPolicy, limit: int, chance: Chance
) -> Walked:
    """A broker that has seen the request refuses it, and the sender asks its next neighbour."""
    path, tried, seen, hops = [CONSUMER, start], {start: set[int]()}, {start}, 0
    while len(path) > 1:
        at = path[-1]
        if at in held:
            return hops, True
        untried = [other for other in neighbours[at] if other not in tried[at]]
        chosen = _choose(policy, untried, path[:-1], chance) if len(path) <= limit else None
        if chosen is None:
            path.pop()
            continue
        hops += 1
        tried[at].add(chosen)
        if chosen not in seen:
            seen.add(chosen)
            tried[chosen] = set()
            path.append(chosen)
    return hops, False


def _choose(policy: WalkPolicy, neighbours: list[int], path: list[int], chance: Chance) -> int | None:
    """Policies only compare addresses for equality, so broker numbers are sufficient."""
    return cast("int | None", policy.choose(cast(Any, neighbours), cast(Any, path), chance))
