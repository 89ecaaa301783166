"""The tree by which brokers are joined: breadth first from broker 0, neighbours by number (seed 002, section 7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping


def tree_of(brokers: int, links: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The links in use, parent and child, as they are found. Brokers that no path joins to broker 0 are in none."""
    around: list[set[int]] = [set() for _ in range(brokers)]
    for one, other in links:
        around[one].add(other)
        around[other].add(one)
    found, reached, waiting = [], {0}, deque([0])
    while waiting:
        parent = waiting.popleft()
        for child in sorted(around[parent] - reached):
            reached.add(child)
            waiting.append(child)
            found.append((parent, child))
    return tuple(found)


def resting(brokers: int, links: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The links that are in no use, the lower index first."""
    links = tuple(links)
    used = {frozenset(ends) for ends in tree_of(brokers, links)}
    return tuple(sorted({(min(ends), max(ends)) for ends in links if frozenset(ends) not in used}))


def parents_of(brokers: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """Of each broker in the tree; -1 if it has none."""
    found = [-1] * brokers
    for parent, child in tree_of(brokers, links):
        found[child] = parent
    return found


def neighbours_of(broker: int, tree: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """By number."""
    return tuple(sorted({one if other == broker else other for one, other in tree if broker in (one, other)}))


def longest_delay_ms(brokers: int, delays: Mapping[tuple[int, int], float]) -> float:
    """Of a way between two brokers, at most: both over broker 0. ``delays``: of each link, one way."""
    far = [0.0] * brokers
    for parent, child in tree_of(brokers, delays):
        far[child] = far[parent] + delays.get((parent, child), delays.get((child, parent), 0.0))
    return 2 * max(far)
