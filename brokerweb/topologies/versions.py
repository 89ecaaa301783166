"""Versions of a topology: recorded by every save that changes something, compared, and thinned when there are many."""

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
"""Versions of one topology, but for those that runs and networks have."""
MOST_BYTES = 32_000_000
"""Of the documents of all versions of one topology: a full mesh of 200 brokers has half a megabyte."""
NEWEST = 50
"""Are never thinned."""
SPARE = 20
"""So many are thinned at once, since it takes a look at every run."""


def document_of(topology: Topology, graph: Graph) -> dict[str, Any]:
    """All that a version holds: how it was made, and what it is.

    Links are ``[a, b, delay_ms, jitter_ms, loss]``, and where they do more than that, an object with it comes last.
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
    """Adds a version if ``graph`` is not what the last one says; whether it did. To be called within a transaction."""
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
    """Takes out old versions that nothing uses, those first that stand closest between their neighbours."""
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
    """The version before and the one after, as far as there are any."""
    numbers = list(topology.versions.order_by("number").values_list("number", flat=True))
    before = next((a for a, b in pairwise(numbers) if b == number), None)
    after = next((b for a, b in pairwise(numbers) if a == number), None)
    return before, after
