"""What a traced publication met at this broker: who gets it, who does not, and what says no. Pure.

``Tables.route`` has decided; this looks again, for one publication in many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.tables import Delivery, Key, Kind, Link, Tables
from overlay.systems.silbops.tables.explaining import objection
from overlay.systems.silbops.wire import messages as m

MOST_WITHHELD: Final = 64
"""Own clients that are named."""


class Outcome(NamedTuple):
    step: str
    """One of ``tracing.STEPS``."""
    peer: str
    subscriptions: tuple[int, ...]
    candidates: int
    """Subscriptions of the peer that match its content; of ``matched``, all."""
    rows: int
    """Of which they are some."""
    detail: str = ""
    """What the first of them says against it; if none matches, the first of the others."""


def outcomes(
    tables: Tables, came_by: Link, pub: m.Pub, context: Values, deliveries: Sequence[Delivery]
) -> Iterator[Outcome]:
    """In the order of what happens. ``context``: of the publisher, as far as it may go with the publication."""
    found: dict[Link, list[Key]] = defaultdict(list)
    for key, link in tables.touched(pub.notification, None):
        if link != came_by:
            found[link].append(key)
    rows = tables.rows() - len(tables.keys_of(came_by))
    yield Outcome("matched", "", (), sum(map(len, found.values())), rows)
    for to, _ in deliveries:
        if to.kind is Kind.BROKER:
            yield Outcome("forwarded", to.name, (), len(found[to]), len(tables.keys_of(to)))
    others = sorted({*found, *tables.neighbours} - {one.link for one in deliveries} - {came_by})
    for link in (one for one in others if one.kind is Kind.BROKER):
        yield Outcome("filtered", link.name, (), *_against(tables, link, found[link], pub, context))
    for link in islice((one for one in others if one.kind is Kind.CLIENT), MOST_WITHHELD):
        numbers = tuple(number for _, number in found[link])
        yield Outcome("withheld", link.name, numbers, *_against(tables, link, found[link], pub, context))


def _against(
    tables: Tables, link: Link, candidates: Sequence[Key], pub: m.Pub, context: Values
) -> tuple[int, int, str]:
    """How many match by content, of how many, and what the first one says."""
    keys = tables.keys_of(link)
    first = candidates[0] if candidates else min(keys, default=None)
    one = None if first is None else tables.subscription(link, first)
    if one is None:
        return 0, 0, ""
    own = tables.contexts.get(one.owner)
    return len(candidates), len(keys), objection(one, own, pub.notification, context, pub.scope)
