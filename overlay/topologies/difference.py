"""The difference between two versions of a topology: added, removed and changed brokers and links.

Brokers are identified only by their place in the list. The editor keeps their order when it removes and adds
brokers. The two lists are therefore aligned, like the lines of two texts, by names in both versions and otherwise by
positions. Brokers in the same place between two matches are the same broker, moved or renamed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from overlay.core.links import Link
from overlay.topologies.graph import Graph


@dataclass(frozen=True, slots=True)
class Difference:
    """Indices of removed brokers are those of the old version, all others those of the new version."""

    pairs: tuple[tuple[int, int], ...]
    """(old, new) index of every broker in both versions."""
    brokers_added: tuple[int, ...]
    brokers_removed: tuple[int, ...]
    brokers_moved: tuple[int, ...]
    brokers_renamed: tuple[tuple[int, str, str], ...]
    """(new index, old name, new name)."""
    links_added: tuple[Link, ...]
    links_removed: tuple[Link, ...]
    links_changed: tuple[tuple[Link, Link], ...]
    """(old, new): links between the same brokers with different properties."""

    @property
    def is_empty(self) -> bool:
        return not (
            self.brokers_added
            or self.brokers_removed
            or self.brokers_moved
            or self.brokers_renamed
            or self.links_added
            or self.links_removed
            or self.links_changed
        )


def difference(old: Graph, new: Graph) -> Difference:
    """From ``old`` to ``new``, both checked."""
    pairs = tuple(_aligned(old, new))
    kept_old, kept_new = {a for a, _ in pairs}, {b for _, b in pairs}
    renumbered = dict(pairs)
    was = {_ends(link, renumbered): link for link in old.links if kept_old.issuperset(link.ends)}
    now = {link.ends: link for link in new.links}
    return Difference(
        pairs=pairs,
        brokers_added=tuple(i for i in range(new.brokers) if i not in kept_new),
        brokers_removed=tuple(i for i in range(old.brokers) if i not in kept_old),
        brokers_moved=tuple(b for a, b in pairs if _place(old, a) != _place(new, b)),
        brokers_renamed=tuple(_renamed(old, new, pairs)),
        links_added=tuple(link for ends, link in now.items() if ends not in was),
        links_removed=tuple(
            link for link in old.links if not kept_old.issuperset(link.ends) or _ends(link, renumbered) not in now
        ),
        links_changed=tuple(
            (link, now[ends]) for ends, link in was.items() if ends in now and _shape(link) != _shape(now[ends])
        ),
    )


def _aligned(old: Graph, new: Graph) -> list[tuple[int, int]]:
    known = {_name(old, i) for i in range(old.brokers)} & {_name(new, i) for i in range(new.brokers)} - {""}
    was, now = ([_key(graph, i, known) for i in range(graph.brokers)] for graph in (old, new))
    pairs: list[tuple[int, int]] = []
    for _, a, a_end, b, b_end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        pairs += zip(range(a, a_end), range(b, b_end), strict=False)
    return pairs


def _key(graph: Graph, index: int, known: set[str]) -> object:
    name = _name(graph, index)
    return name if name in known else _place(graph, index)


def _renamed(old: Graph, new: Graph, pairs: tuple[tuple[int, int], ...]) -> list[tuple[int, str, str]]:
    """Empty on the side on which the broker has no name."""
    named = [(b, _name(old, a), _name(new, b)) for a, b in pairs]
    return [(b, before, after) for b, before, after in named if before != after]


def _name(graph: Graph, index: int) -> str:
    """Empty for a broker without a name. Its number is not a name, as it changes when an earlier broker is deleted."""
    name = graph.names[index] if graph.names else ""
    return "" if name == str(index) else name


def _place(graph: Graph, index: int) -> object:
    return graph.positions[index] if graph.positions else index


def _ends(link: Link, renumbered: dict[int, int]) -> tuple[int, int]:
    a, b = renumbered[link.a], renumbered[link.b]
    return (a, b) if a <= b else (b, a)


def _shape(link: Link) -> Link:
    return replace(link, a=0, b=0)
