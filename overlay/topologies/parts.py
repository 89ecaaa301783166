"""What to say of a topology that is not one whole: how many parts it has, what that means for a run, what to do.

Launching it stays possible; whoever launches it is told before. A link that loses every datagram joins nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.topologies import Graph

NAMED = 5
"""Parts, brokers and topologies that a sentence names; the rest is counted."""
MEANING = "what is asked in one part is never found in another"

Ends = tuple[int, int, float]
"""Two brokers, and the share of datagrams that are lost between them."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A topology in more than one part."""

    sizes: tuple[int, ...]
    """Brokers of each part, the largest first."""
    alone: tuple[int, ...]
    """Brokers without a neighbour."""
    deaf: bool
    """Whether there would be fewer if some links did not lose everything."""


def of_graph(graph: Graph) -> Parts | None:
    """Nothing for one that is whole. Need not be checked."""
    return _parts(graph.brokers, ((link.a, link.b, link.loss) for link in graph.links))


def of_document(document: Mapping[str, Any]) -> Parts | None:
    """The same of a topology as a configuration has it (``services.document``)."""
    links = document["links"]
    return _parts(document["brokers"], ((link["a"], link["b"], link.get("loss", 0.0)) for link in links))


def sentence(graph: Graph) -> str:
    """What deserves a warning wherever the graph is shown; empty for one that is whole."""
    found = of_graph(graph)
    if found is None:
        return ""
    said = f"It falls into {_described(found, graph.names)}: {MEANING}."
    return f"{said} Link the parts, or launch it as it is if that is what a run is to show."


def before_launch(documents: Iterable[Mapping[str, Any]]) -> str:
    """The same of topologies that are about to be launched, without a full stop; empty where all are whole."""
    apart = [(document, found) for document in documents if (found := of_document(document)) is not None]
    if not apart:
        return ""
    if len(apart) == 1:
        document, found = apart[0]
        said = f"the topology {document['name']} falls into {_described(found, document.get('names'))}"
    else:
        names = _listed([document["name"] for document, _ in apart])
        said = f"{len(apart)} of the topologies fall into parts that no link joins ({names})"
    return f"{said}: {MEANING} and counts as not found. Link the parts first, unless that is what the runs are to show"


def at_work(document: Mapping[str, Any]) -> str:
    """The same of one that was launched, beside its brokers."""
    found = of_document(document)
    if found is None:
        return ""
    said = f"The overlay falls into {_described(found, document.get('names'))}: {MEANING} and counts as not found."
    return f"{said} Link the parts in the topology and launch it again, unless that is what was to be shown."


def _parts(brokers: int, links: Iterable[Ends]) -> Parts | None:
    root, linked, lossy = list(range(brokers)), set[int](), []
    for a, b, loss in links:
        if not (0 <= a < brokers and 0 <= b < brokers):
            continue  # a row of no topology that can be launched
        linked |= {a, b}
        if loss >= 1:
            lossy.append((a, b))
        else:
            root[_find(root, a)] = _find(root, b)
    sizes = Counter(_find(root, broker) for broker in range(brokers))
    if len(sizes) < 2:
        return None
    alone = tuple(broker for broker in range(brokers) if broker not in linked)
    deaf = any(_find(root, a) != _find(root, b) for a, b in lossy)
    return Parts(tuple(sorted(sizes.values(), reverse=True)), alone, deaf)


def _find(root: list[int], broker: int) -> int:
    """The broker that stands for its part."""
    while root[broker] != broker:
        root[broker] = broker = root[root[broker]]
    return broker


def _described(found: Parts, names: Sequence[str] | None) -> str:
    """ "3 parts that no link joins (8 brokers; brokers 8 and 9 alone)"."""
    joined = "no link joins, as those between them lose everything" if found.deaf else "no link joins"
    larger = [str(size) for size in found.sizes[: len(found.sizes) - len(found.alone)]]
    said = [f"{_listed(larger)} broker{'' if larger == ['1'] else 's'}"] if larger else []
    if found.alone:
        called = [names[broker] if names else str(broker) for broker in found.alone]
        said.append(f"broker{'s' if len(called) > 1 else ''} {_listed(called)} alone")
    return f"{len(found.sizes)} parts that {joined} ({'; '.join(said)})"


def _listed(names: Sequence[str]) -> str:
    """ "a, b and c", or the first and how many more."""
    rest = len(names) - NAMED
    shown = [*names[:NAMED], f"{rest} more"] if rest > 0 else list(names)
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
