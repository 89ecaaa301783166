"""Messages to groups: whether exactly the members got them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from overlay.systems.contextnet.measuring.facts import Facts
from overlay.systems.contextnet.rows import Absence, Cast, ContextSet

QUIET_US = 2_000_000
"""A node's groups are certain so long after its context changed; and a message has come so long after it was due."""


def wrong(facts: Facts) -> int | None:
    """Deliveries that are missing, or came to nodes outside the group; of nodes whose groups are certain and that were
    connected all the time. ``None`` if nothing was sent to groups."""
    last_us = facts.end_us - QUIET_US
    casts: Sequence[Cast] = [one for one in facts.rows[Cast] if facts.is_measured(one.due_us) and one.due_us <= last_us]
    if not casts:
        return None
    contexts = defaultdict(list)
    for one in facts.rows[ContextSet]:
        contexts[one.node].append(one)
    away = {one.node for one in (*facts.rows[Absence],)} | {one.client for one in facts.connections if one.reason}
    came = {(one.publication, one.client) for one in facts.casts}
    return sum(
        is_member != ((cast.id, node) in came)
        for node, known in contexts.items()
        if node not in away
        for cast, is_member in _certain(casts, known)
    )


def _certain(casts: Sequence[Cast], contexts: Sequence[ContextSet]) -> Iterator[tuple[Cast, bool]]:
    """The casts at which a node was certainly inside or outside of the group."""
    ordered = sorted(contexts, key=lambda one: one.set_us)
    for cast in casts:
        before = [one for one in ordered if one.set_us <= cast.due_us + QUIET_US]
        if before and before[-1].set_us <= cast.due_us - QUIET_US:
            yield cast, before[-1].values[cast.definer] == cast.group
