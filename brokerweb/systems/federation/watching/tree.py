"""The newest tree of a network, as its registration service published it: edges are used, other links rest."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.follower_cache import Following
from brokerweb.networks.models import Network
from brokerweb.systems.federation.watching.inspecting import asked, brokers, index_of, service_index
from overlay.systems.federation.subjects import Subject

MOST = 100_000
"""Edges and brokers that are read."""
KEPT = 8
"""Maximum number of networks whose resting links are remembered."""
AGE_S = 1.0
"""For how long they are, for any number of viewers."""
Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tree:
    epoch: int
    edges: frozenset[Ends]
    """The lower index first."""
    brokers: Sequence[Mapping[str, Any]]
    """Registered ones: ``{broker, index, endpoint, is_mobile, state, silent_ms, epoch, down, dead}``; empty if the
    registration service does not answer."""
    is_of_service: bool = True
    """Whether the registration service told it. Otherwise a broker did, which may know an older one."""
    is_awaited: bool = False
    """Whether the registration service has restarted and not published a tree yet; brokers use the last one."""

    def resting(self, links: Sequence[Mapping[str, Any]]) -> list[Ends]:
        """Those of a topology's links that are no edges."""
        ends = {(min(link["a"], link["b"]), max(link["a"], link["b"])) for link in links}
        return sorted(ends - self.edges)

    def missing(self, network: Network) -> list[int]:
        """Brokers that should run and are not registered, such as one whose radio is cut; none if that is unknown."""
        there = {row["index"] for row in self.brokers}
        wanted = (index for index in range(network.deployed["brokers"]) if str(index) not in network.members)
        return [index for index in wanted if index not in there] if self.is_of_service else []


def tree_of(network: Network) -> Tree:
    """Raises ``NotPossible`` and ``NotAnswered``."""
    service = service_index(network)
    try:
        if service is None:
            raise NotPossible(f"This network is {network.state} and has no running server.")
        found = _asked(network, service, is_service=True)
    except (NotAnswered, NotPossible):
        first = next(iter(brokers(network)), None)
        if first is None:
            raise
        return _asked(network, first, is_service=False)
    return found if found.epoch else _used_meanwhile(network, found)


def _used_meanwhile(network: Network, told: Tree) -> Tree:
    """The tree of a service that has published none: that of the brokers, if they have one."""
    with suppress(NotAnswered, NotPossible):
        used = _asked(network, next(iter(brokers(network))), is_service=False)
        if used.epoch:
            return replace(used, brokers=told.brokers, is_awaited=True)
    return told


class _Resting:
    """The resting links of one network."""

    def __init__(self) -> None:
        self._asked_s = -AGE_S
        self._found: Sequence[Ends] = ()

    def look(self, network: Network) -> Sequence[Ends]:
        if time.monotonic() - self._asked_s >= AGE_S:
            self._found = _resting(network)
            self._asked_s = time.monotonic()
        return self._found


_known: Following[tuple[str, int, int], _Resting] = Following(KEPT)


def resting_links(network: Network) -> Sequence[Ends]:
    """The resting links up to a second ago; none while no server answers, which is remembered as well."""
    return _known.look((network.pk, network.epoch, network.version), _Resting, lambda known: known.look(network))


def _resting(network: Network) -> Sequence[Ends]:
    try:
        return tree_of(network).resting(network.deployed["links"])
    except (NotAnswered, NotPossible):
        return ()


def _asked(network: Network, index: int, *, is_service: bool) -> Tree:
    with asked(network, index) as server:
        found = server.rows(Subject.TREE, limit=MOST)
        registered = server.rows(Subject.BROKERS, limit=MOST).rows if is_service else ()
    edges = ((index_of(a), index_of(b)) for a, b in found.rows)
    known = frozenset((min(a, b), max(a, b)) for a, b in edges if a is not None and b is not None)
    rows = [
        {
            **row,
            "index": index_of(row["broker"]),
            "silent_s": row["silent_ms"] / 1000,
            "dead": [f"Broker {index_of(name)}" for name in row["down"]],
        }
        for row in registered
    ]
    return Tree(found.epoch, known, sorted(rows, key=lambda row: (row["index"] is None, row["index"])), is_service)
