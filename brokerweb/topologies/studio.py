"""The topology editor: parses drawings, examines them, suggests links and saves versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from threading import Semaphore
from typing import Any

from django.contrib.auth.models import User

from brokerweb.changelog.recording import CHANGE, CREATE, recorded
from brokerweb.kit.errors import NotPossible
from brokerweb.topologies import services, versions
from brokerweb.topologies.models import Topology, TopologyVersion
from overlay import topologies as overlay_topologies
from overlay.core import links as overlay_links
from overlay.core.errors import InvalidSetting, shown
from overlay.systems.registry import walk_policies
from overlay.topologies import Graph, advice, parts
from overlay.topologies.files import numbers_of, read_links
from overlay.topologies.graph import MAX_NAME, require
from overlay.topologies.structure import structure

MAX_NOTE = 200
UNPLACED = {"x", "y"}
ADVICE_WAIT_S = 10.0
_advising = Semaphore()
"""Ten links for a thousand brokers use all cores for seconds and 100 MB: one computation at a time."""


def read_graph(nodes: Any, links: Any) -> Graph:
    """The graph of a drawing: ``nodes`` with ``x`` and ``y`` in the unit square and an optional ``name``.

    ``links`` are pairs of node positions, or objects with ``a``, ``b`` and link conditions. The graph may be
    disconnected. Raises ``InvalidSetting`` naming the node or link.
    """
    limits = services.limits()
    if not isinstance(nodes, list) or not all(isinstance(node, Mapping) for node in nodes):
        raise InvalidSetting("nodes", "must be a list of objects")
    if not 1 <= len(nodes) <= limits.brokers:
        raise InvalidSetting("nodes", f"a topology has 1 to {limits.brokers} brokers, not {len(nodes)}")
    names = [_name(node, i) for i, node in enumerate(nodes)]
    called: dict[str, int] = {}
    for i, name in enumerate(names):
        if called.setdefault(name, i) != i:
            raise InvalidSetting(f"nodes[{i}].name", f"{name!r} is already the name of broker {called[name]}")
    joined = tuple(overlay_links.Link(**fields) for fields in read_links(links, limits))
    for i, link in enumerate(joined):
        try:
            link.shape()
        except InvalidSetting as error:
            raise InvalidSetting(f"links[{i}].{error.field}", error.sentence) from None
    plain = all(name == str(i) for i, name in enumerate(names))
    places = tuple(_place(node, i) for i, node in enumerate(nodes))
    return require(Graph(len(nodes), joined, places, None if plain else tuple(names)), limits)


def _name(node: Mapping[str, Any], index: int) -> str:
    name = node.get("name") or str(index)
    if not isinstance(name, str) or not 0 < len(name.strip()) <= MAX_NAME or not name.isprintable():
        raise InvalidSetting(f"nodes[{index}].name", f"must be 1 to {MAX_NAME} printable characters")
    return name.strip()


def _place(node: Mapping[str, Any], index: int) -> tuple[float, float]:
    found = numbers_of(node, ("x", "y"), f"nodes[{index}]")
    if missing := UNPLACED - found.keys():
        raise InvalidSetting(f"nodes[{index}].{min(missing)}", "is required: the broker's position, 0 to 1")
    for axis, value in found.items():
        if not 0 <= value <= 1:
            raise InvalidSetting(f"nodes[{index}].{axis}", f"must be from 0 to 1, not {value:g}")
    return round(found["x"], 6), round(found["y"], 6)


def examine(graph: Graph, policy: str) -> dict[str, Any]:
    """Measures of a validated graph, an estimate of walks, and warnings.

    Raises ``InvalidSetting`` for an unknown policy.
    """
    policies = walk_policies()
    if policy not in policies:
        raise InvalidSetting("policy", f"must be one of {', '.join(policies)}, not {shown(policy, 40)}")
    measures = overlay_topologies.measures(graph)
    found = policies[policy].estimate(graph)
    return {
        "warnings": list(filter(None, [parts.sentence(graph)])),
        "measures": measures,
        "structure": structure(graph, measures["components"]),
        "walk": asdict(found),
    }


def walk_choices() -> list[tuple[str, str]]:
    """Walk policies for a form: names and labels, the default first."""
    return [(name, policy.label) for name, policy in walk_policies().items()]


def usual_policy() -> str:
    return next(iter(walk_policies()))


def advise(graph: Graph, k: int, goal: str) -> dict[str, Any]:
    """The ``k`` links that shorten walks (or paths) most. Raises ``InvalidSetting`` and ``NotPossible``."""
    if not _advising.acquire(timeout=ADVICE_WAIT_S):
        raise NotPossible("Another request for suggestions is being computed. Try again in a moment.")
    try:
        return {"goal": goal, "links": [asdict(link) for link in advice.links_to_add(graph, k, goal)]}
    finally:
        _advising.release()


def save(topology_id: str, graph: Graph, *, since: int, by: User, name: str | None = None, note: str = "") -> Topology:
    """Save the drawing as a new version, if it has changes; ``since`` is the edited version.

    Raises ``NotPossible`` if there is a newer one, and ``InvalidSetting`` for an invalid name or note.
    """
    if len(note) > MAX_NOTE or not note.isprintable():
        raise InvalidSetting("note", f"must be at most {MAX_NOTE} printable characters")
    with recorded(CHANGE, Topology.objects.get(pk=topology_id), by):
        return _save(topology_id, graph, since, by, name, note)


def _save(topology_id: str, graph: Graph, since: int, by: User, name: str | None, note: str) -> Topology:
    topology = Topology.objects.select_for_update().get(pk=topology_id)
    services.check_newest(topology, since)
    if name is not None and name.strip() != topology.name:
        topology.name = services.free_name(name)
    before = services.to_graph(topology)
    if versions.document_of(topology, before) == versions.document_of(topology, graph):
        topology.save(update_fields=["name", "updated"])
        return topology
    if _pairs(before) != _pairs(graph) or before.brokers != graph.brokers:
        # An edited topology no longer matches its generator and must not be compared as if it did.
        topology.kind, topology.params, topology.seed = services.CUSTOM, {}, 0
    return services.save_graph(topology, graph, by, note)


def _pairs(graph: Graph) -> set[tuple[int, int]]:
    return {link.ends for link in graph.links}


def restore(version: TopologyVersion, by: User) -> Topology:
    """Restore an earlier version as the latest. Raises ``NotPossible`` if nothing would change."""
    with recorded("restore", version.topology, by):
        return _restore(version, by)


def _restore(version: TopologyVersion, by: User) -> Topology:
    topology = Topology.objects.select_for_update().get(pk=version.topology_id)
    graph = versions.graph_of(version.document)
    topology.kind, topology.params, topology.seed = (version.document[field] for field in ("kind", "params", "seed"))
    number = topology.version
    services.save_graph(topology, graph, by, f"Restored version {version.number}")
    if topology.version == number:
        raise NotPossible(f"Version {version.number} equals the current topology.")
    return topology


def clone(topology: Topology, owner: User) -> Topology:
    """Copy the topology under a new name, without earlier versions."""
    with recorded(CREATE, by=owner) as record:  # IMMEDIATE: of two concurrent copies, the second finds the name taken
        record.row = _clone(topology, owner)
        return record.row


def _clone(topology: Topology, owner: User) -> Topology:
    taken = set(Topology.objects.filter(name__startswith=topology.name[:80]).values_list("name", flat=True))
    names = (f"{topology.name[:80]}, copy{f' {count}' if count > 1 else ''}" for count in range(1, len(taken) + 2))
    fields = {field: getattr(topology, field) for field in ("kind", "params", "seed")}
    copy = Topology(name=next(name for name in names if name not in taken), owner=owner, **fields)
    return services.save_graph(copy, services.to_graph(topology), owner, f"Copied from {topology.name}")


def drawn(graph: Graph) -> dict[str, Any]:
    """A graph in the editor's format, as read by ``read_graph``: brokers without a name have an empty one."""
    names = graph.names or [str(i) for i in range(graph.brokers)]
    places = graph.positions or [(0.5, 0.5)] * graph.brokers
    return {
        "nodes": [
            {"name": "" if name == str(i) else name, "x": x, "y": y}
            for i, (name, (x, y)) in enumerate(zip(names, places, strict=True))
        ],
        "links": [link.to_json() for link in graph.links],
    }
