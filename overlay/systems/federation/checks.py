"""What must fit together before a run or a network starts: settings, workload and topology. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from overlay.core.errors import InvalidSetting, within
from overlay.core.links import Link
from overlay.systems.contract import Setup
from overlay.systems.federation.names import Routing
from overlay.systems.federation.settings import NONE, SUPPRESS, Settings
from overlay.systems.federation.workload import check_together

MOST_NAMED = 8
"""Brokers of a cycle that an error names."""


def check_setup(setup: Setup) -> None:
    """Raises ``InvalidSetting`` with the names of fields below ``settings.`` and ``workload.``."""
    with within("settings"):
        check_network(setup.settings, setup.graph.brokers, setup.graph.links)
        if setup.workload is not None:
            check_together(setup.settings, setup.workload)


def check_network(settings: Settings, brokers: int, links: Sequence[Link]) -> None:
    """Raises ``InvalidSetting``."""
    if beyond := [index for index in settings.mobile_indices if index >= brokers]:
        last = f"the last broker is {brokers - 1}" if brokers > 1 else "the only broker is 0"
        raise InvalidSetting("mobile_brokers", f"has {beyond[0]}, but {last}")
    if settings.device != NONE and not settings.mobile_indices:
        raise InvalidSetting("device", f"{settings.device} needs a mobile broker; name one in mobile_brokers")
    if len(settings.domains) not in (1, brokers):
        raise InvalidSetting(
            "domain", f"has {len(settings.domains)} names for {brokers} brokers; give one, or one for each"
        )
    if len(set(settings.domains)) > 1 and settings.routing == Routing.NOTIFICATIONS:
        raise InvalidSetting("domain", "several need routing advertisements or flooding: notifications filters nothing")
    if settings.cycles == SUPPRESS and settings.domain:
        raise InvalidSetting("cycles", f"{SUPPRESS}: flooded tables are not filtered, so a domain needs tree or refuse")
    if settings.cycles == "refuse" and (cycle := find_cycle(brokers, [link.ends for link in links])):
        named = " – ".join(map(str, cycle[:MOST_NAMED])) + (" – …" if len(cycle) > MOST_NAMED else f" – {cycle[0]}")
        raise InvalidSetting("cycles", f"refuse: the links form the cycle {named}")


def find_cycle(nodes: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The nodes of one cycle, in order; empty if there is none."""
    forest: dict[int, list[int]] = {}
    roots = list(range(nodes))

    def root(node: int) -> int:
        while roots[node] != node:
            roots[node] = roots[roots[node]]
            node = roots[node]
        return node

    for a, b in edges:
        if root(a) == root(b):
            return _path(forest, a, b)
        roots[root(a)] = root(b)
        forest.setdefault(a, []).append(b)
        forest.setdefault(b, []).append(a)
    return []


def _path(forest: Mapping[int, Sequence[int]], start: int, end: int) -> list[int]:
    """The way between two nodes of one tree."""
    before = {start: start}
    front = [start]
    while end not in before:
        front = [_reach(other, node, before) for node in front for other in forest[node] if other not in before]
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]


def _reach(node: int, from_node: int, before: dict[int, int]) -> int:
    before[node] = from_node
    return node
