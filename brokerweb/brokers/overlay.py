"""The drawing of all servers: the topology, and the servers that are not on it. Counterpart:
``static/js/run-overlay.js``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brokerweb.brokers.names import ServerNames
from brokerweb.topologies import pictures
from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import graph_of
from overlay.systems.registry import SYSTEMS

SHAPES = ("ellipse", "round-rectangle", "diamond", "hexagon", "triangle")
"""Of the nodes of each role in turn, then of each kind (``System.kinds``)."""
APART = 0.25
"""The distance between the topology and the row below it, as a share of the drawing."""


def of_run(configuration: Mapping[str, Any], servers: ServerNames) -> dict[str, Any]:
    """``picture`` of a run, with the links that rest at its start."""
    return with_resting_links(picture(configuration["topology"], servers), configuration)


def with_resting_links(drawn: dict[str, Any], configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Marks those of ``System.resting_links``; ``rests`` says whether there are any."""
    system = SYSTEMS[configuration["system"]]
    try:
        graph = graph_of(configuration["topology"])
        resting = system.resting_links(system.setup(configuration["settings"], configuration["workload"], graph))
    except InvalidSetting:  # of an earlier version
        resting = ()
    links = [{**link, "rests": True} if _ends(link) in resting else link for link in drawn["links"]]
    return {**drawn, "links": links, "rests": bool(resting)}


def _ends(link: Mapping[str, int]) -> tuple[int, int]:
    return min(link["a"], link["b"]), max(link["a"], link["b"])


def picture(topology: Mapping[str, Any], servers: ServerNames) -> dict[str, Any]:
    """The topology of a run or network as launched, with a row of its other servers below. Each node has its title and,
    if there are several roles, the shape of its role or kind."""
    drawn = pictures.of_document(topology)
    if servers.removed:
        drawn["nodes"] = [node for node in drawn["nodes"] if node["index"] not in servers.removed]
    nodes = drawn["nodes"]
    others = range(topology["brokers"], len(servers))
    places = _row(nodes, len(others))
    nodes += [{"index": at, "name": str(at), "x": x, "y": y} for at, (x, y) in zip(others, places, strict=True)]
    if servers.has_roles:
        looks = servers.looks
        shapes = dict(zip(looks, SHAPES * len(looks), strict=False))
        for node in nodes[: len(servers)]:
            index, full = node["index"], servers.full(node["index"])
            name = full if node["name"] == str(index) else node["name"]
            kind = servers.kind(index)
            title = f"{full}, {kind}" if kind else full
            node |= {"name": name, "title": title, "shape": shapes[servers.look(index)]}
    return drawn


def _row(nodes: Sequence[Mapping[str, Any]], count: int) -> Iterator[tuple[float | None, float | None]]:
    """Places below ``nodes``; none if these have none."""
    placed = [(node["x"], node["y"]) for node in nodes if node["x"] is not None]
    if len(placed) < len(nodes) or not placed:
        yield from [(None, None)] * count
        return
    xs, ys = zip(*placed, strict=True)
    side = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
    left, width = (min(xs) + max(xs) - side) / 2, side / count if count else 0
    for at in range(count):
        yield left + width * (at + 0.5), max(ys) + APART * side
