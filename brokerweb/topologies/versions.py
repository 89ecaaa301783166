"""Versions of a topology: recorded by every save with changes, compared, and thinned out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import User

from brokerweb.topologies import uses
from brokerweb.topologies.models import Topology, TopologyVersion
from overlay.core.links import Link
from overlay.topologies import Graph

MOST = 200
"""Maximum number of unused versions of a topology."""
MOST_BYTES = 32_000_000
"""Maximum size of all versions of a topology: a full mesh of 200 brokers has half a megabyte."""
NEWEST = 50
"""Latest versions that are never deleted."""
SPARE = 20
"""Versions deleted at a time, because it requires a query of all runs."""


def document_of(topology: Topology, graph: Graph) -> dict[str, Any]:
    """The document of a version: its generator and its graph.

    Links are ``[a, b, delay_ms, jitter_ms, loss]``, with an object of further conditions if there are any.
    """
    return {
        "kind": topology.kind,
        "params": topology.params,
        "seed": topology.seed,
        "brokers": graph.brokers,
        "links": [_row(link) for link in sorted(graph.links, key=lambda link: link.ends)],
        "positions": [list(place) for place in graph.positions] if graph.positions else None,
        "names": list(graph.names) if graph.names else None,
    }


def _row(link: Link) -> list[Any]:
    more = link.more()
    return [*link.ends, link.delay_ms, link.jitter_ms, link.loss, *([more] if more else [])]


def graph_of(document: Mapping[str, Any]) -> Graph:
    """The graph of a version's document."""
    places, names = document["positions"], document["names"]
    return Graph(
        brokers=document["brokers"],
        links=tuple(Link(*link[:5], **(link[5] if len(link) > 5 else {})) for link in document["links"]),
        positions=tuple((x, y) for x, y in places) if places else None,
        names=tuple(names) if names else None,
    )


def record(topology: Topology, graph: Graph, by: User | None = None, note: str = "") -> bool:
    """Add a version if ``graph`` differs from the last one; returns whether it did. Call it within a transaction."""
    document = document_of(topology, graph)
    newest = topology.versions.first()
    if newest is not None and newest.document == document:
        return False
    topology.version = newest.number + 1 if newest else 1
    TopologyVersion.objects.create(
        topology=topology,
        number=topology.version,
        document=document,
        size=len(json.dumps(document)),
        by=by,
        note=note,
    )
    _thin(topology)
    return True


def _thin(topology: Topology) -> None:
    """Delete old unused versions, those closest in time to their neighbours first."""
    kept = list(topology.versions.order_by("number").values_list("number", "size"))
    if len(kept) <= MOST and sum(size for _, size in kept) <= MOST_BYTES:
        return
    used = uses.versions_in_use(topology)
    gone = []
    while len(kept) > MOST - SPARE or sum(size for _, size in kept) > MOST_BYTES:
        gaps = [
            (later[0] - earlier[0], at)
            for at, (earlier, later) in enumerate(zip(kept, kept[2:], strict=False), start=1)
            if at < len(kept) - NEWEST and kept[at][0] not in used
        ]
        if not gaps:
            break
        gone.append(kept.pop(min(gaps)[1])[0])
    topology.versions.filter(number__in=gone).delete()


def neighbours(topology: Topology, number: int) -> tuple[int | None, int | None]:
    """The previous and the next version, if any."""
    numbers = list(topology.versions.order_by("number").values_list("number", flat=True))
    before = next((a for a, b in pairwise(numbers) if b == number), None)
    after = next((b for a, b in pairwise(numbers) if a == number), None)
    return before, after
