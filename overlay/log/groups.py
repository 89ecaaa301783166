"""Who owns which partition of a topic in a group: leases with generations. Pure; the same for every engine.

A member alone changes leases, at its heartbeats, and only its own, those of the dead, and free ones. So no member loses
a partition without having been asked, except the dead::

    free ── claim, generation + 1 ──> owned ── more than its share ──> free
                                        └── owner dead ──────────────> free

A commit names its generation, and is refused when another owner has had the partition since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

Key = tuple[str, str]
"""A group and a topic. The partitions of each topic are shared by those members of the group that subscribe to it."""


class Lease(NamedTuple):
    """The state of one partition in a group."""

    owner: str = ""
    """The name of a member; empty: free."""
    generation: int = 0
    """Of its last owner; rises with each."""


Leases = tuple[Lease, ...]
"""Those of all partitions of a topic in a group."""


def unowned(partitions: int) -> Leases:
    return (Lease(),) * partitions


def joined(leases: Leases, member: str) -> Leases:
    """With ``member`` just started: what it owned in an earlier life, it owns with a new generation."""
    return tuple(Lease(member, one.generation + 1) if one.owner == member else one for one in leases)


def left(leases: Leases, member: str) -> Leases:
    """Without any of ``member``."""
    return tuple(Lease("", one.generation) if one.owner == member else one for one in leases)


def beaten(leases: Leases, alive: Collection[str], member: str) -> Leases:
    """At a heartbeat of ``member``, one of ``alive``: without leases of the dead and what it has too many, with free
    ones that it has too few."""
    found = [one if one.owner in alive else Lease("", one.generation) for one in leases]
    share, owned = _share(found, alive, member), [i for i, one in enumerate(found) if one.owner == member]
    for index in owned[share:]:
        found[index] = Lease("", found[index].generation)
    if len(owned) < share:
        free = [index for index, one in enumerate(found) if not one.owner]
        for index in free[: share - len(owned)]:
            found[index] = Lease(member, found[index].generation + 1)
    return tuple(found)


def _share(leases: Sequence[Lease], alive: Collection[str], member: str) -> int:
    """How many partitions are the member's. The larger shares are for those who own most, so that few change hands."""
    each, more = divmod(len(leases), len(alive))
    owned = Counter(one.owner for one in leases)
    ordered = sorted(alive, key=lambda name: (-owned[name], name))
    return each + (ordered.index(member) < more)
