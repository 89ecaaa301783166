"""The desired document of a network as a draft that is edited, and the steps from its present state to it. Pure.

Counterparts: ``changes`` stores it, ``overlay.runtime.network_changes`` takes the steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from overlay.core.engines import ENGINES, LIVE
from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.deployment import rollout
from overlay.deployment.rollout import DRAINED, REMOVED, Ends
from overlay.experiment.definition import graph_of
from overlay.systems.contract import PROFILE, System
from overlay.topologies.difference import difference

FAILED_STATES = ("failed", "not answering")
GONE_STATES = ("stopped", "away")


@dataclass
class Draft:
    """``deployed`` has the topology, ``members`` the brokers that should not run, by their index as text."""

    system: System
    deployed: dict[str, Any]
    settings: dict[str, Any]
    members: dict[str, str]

    @classmethod
    def of(
        cls, system: System, deployed: Mapping[str, Any], settings: Mapping[str, Any], members: Mapping[str, str]
    ) -> Draft:
        return cls(system, deepcopy(dict(deployed)), dict(settings), dict(members))

    @property
    def brokers(self) -> list[int]:
        """Those that were not removed."""
        return [index for index in range(self.deployed["brokers"]) if self.members.get(str(index)) != REMOVED]

    @property
    def running(self) -> frozenset[int]:
        return frozenset(index for index in range(self.deployed["brokers"]) if str(index) not in self.members)

    @property
    def others(self) -> frozenset[int]:
        """Servers that are no nodes of the topology, which always run. Raises ``InvalidSetting``, as ``check``."""
        roles = self.system.roles(self.system.setup(self.settings, None, graph_of(self.deployed)))
        return frozenset(range(self.deployed["brokers"], sum(role.count for role in roles)))

    @property
    def links(self) -> frozenset[Ends]:
        return frozenset(Link(**link).ends for link in self.deployed["links"])

    def known(self, index: int, field: str) -> int:
        """``index`` of a broker that was not removed. Raises ``InvalidSetting``."""
        if index not in self.brokers:
            removed = " (it was removed)" if 0 <= index < self.deployed["brokers"] else ""
            raise InvalidSetting(field, f"there is no broker {index}{removed}")
        return index

    def add_broker(self, neighbours: Sequence[int]) -> int:
        """A new broker with links to ``neighbours``. Returns its index."""
        self._require_growth("brokers cannot be added")
        index = self.deployed["brokers"]
        if index + 1 > ENGINES[LIVE].brokers:
            most = f"{ENGINES[LIVE].brokers:,}"
            raise InvalidSetting("links", f"a network has at most {most} indices, including those of removed brokers")
        if len(set(neighbours)) < len(neighbours):
            raise InvalidSetting("links", "name a broker twice")
        for other in neighbours:
            self.known(other, "links")
        if not neighbours and len(self.running) > 0:
            raise InvalidSetting("links", "must name at least one broker, so that searches find the new one")
        self.deployed["brokers"] = index + 1
        if self.deployed.get("names"):
            self.deployed["names"].append(str(index))
        if places := self.deployed.get("positions"):
            near = [places[other] for other in neighbours]
            places.append([sum(x for x, _ in near) / len(near), sum(y for _, y in near) / len(near) + 0.08])
        for other in neighbours:
            self.link(other, index)
        return index

    def move(self, index: int) -> int:
        """A new broker with the same links and place, at an address of its own; this one is removed. Returns the index
        of the new one."""
        links = [link for link in self.deployed["links"] if self.known(index, "broker") in (link["a"], link["b"])]
        if not links:
            raise InvalidSetting("broker", "has no links, so there is no broker to give its entries to")
        count = len(self.deployed["links"])
        new = self.add_broker([link["a"] + link["b"] - index for link in links])
        self.deployed["links"][count:] = [_renumbered(link, _Moved(index, new)) for link in links]
        if places := self.deployed.get("positions"):
            places[new] = list(places[index])
        self.remove(index)
        return new

    def remove(self, index: int) -> None:
        self._require_shrinking("brokers cannot be removed")
        self.known(index, "broker")
        self.deployed["links"] = [link for link in self.deployed["links"] if index not in (link["a"], link["b"])]
        self.members[str(index)] = REMOVED

    def drain(self, index: int) -> None:
        self._require_shrinking("brokers cannot be drained")
        self.members[str(self.known(index, "broker"))] = DRAINED

    def run(self, index: int) -> None:
        self.members.pop(str(self.known(index, "broker")), None)

    def link(self, a: int, b: int, **shape: Any) -> None:
        self._require_growth("links cannot be added")
        if self.known(a, "a") == self.known(b, "b"):
            raise InvalidSetting("b", f"joins broker {a} to itself")
        if (min(a, b), max(a, b)) in self.links:
            raise InvalidSetting("b", f"brokers {a} and {b} are linked already")
        if len(self.deployed["links"]) >= ENGINES[LIVE].links:
            raise InvalidSetting("b", f"a network has at most {ENGINES[LIVE].links:,} links")
        self.deployed["links"].append({"a": a, "b": b, **shape})

    def cut(self, a: int, b: int) -> None:
        self._require_growth("links cannot be cut")
        ends = (min(a, b), max(a, b))
        if ends not in self.links:
            raise InvalidSetting("b", f"brokers {a} and {b} are not linked")
        self.deployed["links"] = [link for link in self.deployed["links"] if Link(**link).ends != ends]

    def set(self, settings: Mapping[str, Any]) -> None:
        """Change some settings. Raises ``InvalidSetting``."""
        known = {info.name for info in self.system.settings}
        for name in settings:
            if name not in known:
                raise InvalidSetting(f"settings.{name[:60]}", "is unknown")
        base = {} if PROFILE in settings else self.settings  # another profile brings its own values
        self.settings = self.system.whole({**base, **settings})

    def follow(self, topology: Mapping[str, Any]) -> None:
        """The difference from the topology as deployed to another version: brokers that are in both keep their index,
        removed ones are removed, added ones get new indices."""
        self._require_growth("its topology cannot change")
        here = self.brokers
        places = self.deployed.get("positions")
        old = {
            "brokers": len(here),
            "links": [
                _renumbered(link, {index: at for at, index in enumerate(here)}) for link in self.deployed["links"]
            ],
            "positions": [places[index] for index in here] if places else None,
        }
        found = difference(graph_of(old), graph_of(topology))
        index_of = {new: here[at] for at, new in found.pairs}
        for at in found.brokers_removed:
            self.members[str(here[at])] = REMOVED
        count = self.deployed["brokers"]
        for new in found.brokers_added:
            index_of[new], count = count, count + 1
        if count > ENGINES[LIVE].brokers:
            raise InvalidSetting("topology", f"would need {count:,} indices, with those of removed brokers")
        self.deployed = {
            **self.deployed,
            **{name: topology.get(name) for name in ("id", "name", "version", "kind")},
            "brokers": count,
            "links": [_renumbered(link, index_of) for link in topology["links"]],
            "names": _spread(topology.get("names"), index_of, count, str),
            "positions": _spread(topology.get("positions"), index_of, count, lambda _: [0.5, 0.5]),
        }
        if not self.deployed["names"]:
            del self.deployed["names"]

    def check(self) -> None:
        """Raises ``InvalidSetting`` for settings that do not fit, and without a broker that runs."""
        self._require_one()
        self.system.check(self.system.setup(self.settings, None, graph_of(self.deployed)))

    def _require_growth(self, sentence: str) -> None:
        if not self.system.can_grow:
            raise InvalidSetting("system", f"{self.system.title} has a fixed number of servers; {sentence}")

    def _require_shrinking(self, sentence: str) -> None:
        if not self.system.can_shrink:
            self._require_growth(sentence)

    def _require_one(self) -> None:
        if not self.running:
            raise InvalidSetting("broker", "none would be left that runs; stop the network instead")


def steps(before: Draft, after: Draft, rows: Iterable[Mapping[str, Any]]) -> list[rollout.Step]:
    """The steps from the ``rows`` of a running network, last seen with the document ``before``."""
    states, old = {}, set()
    for row in rows:
        if row["state"] not in GONE_STATES:
            states[row["index"]] = _state(row["state"])
            old |= {row["index"]} if row.get("is_old") else set()
    stay = after.running | after.others
    revisions = {index: None if index in old else before.settings for index in states}
    desired = rollout.Desired(stay, after.links, dict.fromkeys(stay, after.settings))
    return rollout.remaining(desired, rollout.Observed(states, before.links, revisions))


def parts(draft: Draft) -> list[list[int]]:
    """The parts of the network that cannot reach each other, the largest first."""
    return rollout.separated(draft.running, draft.links)


def indispensable(draft: Draft, indices: Sequence[int]) -> list[int]:
    """Those of ``indices`` without which others cannot reach each other."""
    import networkx as nx

    if not indices:
        return []
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(draft.running)
    graph.add_edges_from(ends for ends in draft.links if draft.running.issuperset(ends))
    return sorted(set(nx.articulation_points(graph)).intersection(indices))


def _state(shown: str) -> str:
    if shown in FAILED_STATES:
        return rollout.FAILED
    return rollout.UP if shown == "up" else rollout.BUSY


class _Moved(dict[int, int]):
    """One index that became another; all others stay."""

    def __init__(self, old: int, new: int) -> None:
        super().__init__({old: new})

    def __missing__(self, index: int) -> int:
        return index


def _renumbered(link: Mapping[str, Any], index_of: Mapping[int, int]) -> dict[str, Any]:
    a, b = sorted((index_of[link["a"]], index_of[link["b"]]))
    return {**link, "a": a, "b": b}


def _spread(values: Sequence[Any] | None, index_of: Mapping[int, int], count: int, missing: Any) -> list[Any] | None:
    if not values:
        return None
    by_index = {index: values[at] for at, index in index_of.items()}
    return [by_index.get(index, missing(index)) for index in range(count)]
