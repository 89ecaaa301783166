"""Warnings about disconnected topologies: the components, the effect on a run, and the remedy.

A disconnected topology can be launched, after a warning. Links that lose every datagram connect nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.topologies import Graph

NAMED = 5
"""Maximum components, brokers and topologies named in a sentence; the rest is counted."""
MEANING = "requests in one component never find data in another"

Ends = tuple[int, int, float]
"""Two brokers, and the share of datagrams lost between them."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a disconnected topology."""

    sizes: tuple[int, ...]
    """Brokers of each component, the largest first."""
    alone: tuple[int, ...]
    """Brokers without a neighbour."""
    deaf: bool
    """Whether there are links between components, which lose every datagram."""


def of_graph(graph: Graph) -> Parts | None:
    """``None`` if it is connected. The graph may be unchecked."""
    return _parts(graph.brokers, ((link.a, link.b, link.loss) for link in graph.links))


def of_document(document: Mapping[str, Any], removed: Collection[int] = ()) -> Parts | None:
    """The same for a topology in a configuration (``services.document``), without the brokers that were removed."""
    links = document["links"]
    return _parts(document["brokers"], ((link["a"], link["b"], link.get("loss", 0.0)) for link in links), removed)


def sentence(graph: Graph) -> str:
    """A warning for all pages with the graph; empty if it is connected."""
    found = of_graph(graph)
    if found is None:
        return ""
    said = f"It has {_described(found, graph.names)}: {MEANING}."
    return f"{said} Link the components, or launch it as it is if the run is meant to show this."


def before_launch(documents: Iterable[Mapping[str, Any]]) -> str:
    """The same for topologies about to be launched, without a full stop; empty if all are connected."""
    apart = [(document, found) for document in documents if (found := of_document(document)) is not None]
    if not apart:
        return ""
    if len(apart) == 1:
        document, found = apart[0]
        said = f"the topology {document['name']} has {_described(found, document.get('names'))}"
    else:
        names = _listed([document["name"] for document, _ in apart])
        said = f"{len(apart)} of the topologies are disconnected ({names})"
    return f"{said}: {MEANING}. Link the components first, unless the runs are meant to show this"


def at_work(document: Mapping[str, Any], removed: Collection[int] = ()) -> str:
    """The same for a launched topology, shown next to its brokers."""
    found = of_document(document, removed)
    if found is None:
        return ""
    said = f"The overlay has {_described(found, document.get('names'))}: {MEANING}."
    return f"{said} Link the components in the topology and launch it again, unless the run is meant to show this."


def _parts(brokers: int, links: Iterable[Ends], removed: Collection[int] = ()) -> Parts | None:
    root, linked, lossy = list(range(brokers)), set[int](), []
    for a, b, loss in links:
        if not (0 <= a < brokers and 0 <= b < brokers):
            continue  # an invalid topology, which cannot be launched
        linked |= {a, b}
        if loss >= 1:
            lossy.append((a, b))
        else:
            root[_find(root, a)] = _find(root, b)
    there = [broker for broker in range(brokers) if broker not in removed]
    sizes = Counter(_find(root, broker) for broker in there)
    if len(sizes) < 2:
        return None
    alone = tuple(broker for broker in there if broker not in linked)
    deaf = any(_find(root, a) != _find(root, b) for a, b in lossy)
    return Parts(tuple(sorted(sizes.values(), reverse=True)), alone, deaf)


def _find(root: list[int], broker: int) -> int:
    """The representative broker of its component."""
    while root[broker] != broker:
        root[broker] = broker = root[root[broker]]
    return broker


def _described(found: Parts, names: Sequence[str] | None) -> str:
    """ "3 components (8 brokers; brokers 8 and 9 without links)"."""
    lossy = ", as the links between them lose every datagram" if found.deaf else ""
    larger = [str(size) for size in found.sizes[: len(found.sizes) - len(found.alone)]]
    said = [f"{_listed(larger)} broker{'' if larger == ['1'] else 's'}"] if larger else []
    if found.alone:
        called = [names[broker] if names else str(broker) for broker in found.alone]
        said.append(f"broker{'s' if len(called) > 1 else ''} {_listed(called)} without links")
    return f"{len(found.sizes)} components{lossy} ({'; '.join(said)})"


def _listed(names: Sequence[str]) -> str:
    """ "a, b and c", or the first ones and the number of others."""
    rest = len(names) - NAMED
    shown = [*names[:NAMED], f"{rest} more"] if rest > 0 else list(names)
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
