"""What was owed to consumers and did not come, and what came that should not have (seed 001, section 12).

By the records of clients alone. A broker's tables are not asked; that every broker between had σ is shown by one of

- the provider published ν for σ, so σ had come all the way to it
- σ had got an earlier ν of the same provider, not from a cache
- σ was accepted ``KNOWN_US`` ago, and no broker has a neighbour of another domain, to which scopes may be hidden

Parameters in a notification's data are not recorded. A subscription whose expression has one owes nothing, and is
satisfied by whatever is in its scopes.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from overlay.systems.federation.language.compiler import Test, compiled
from overlay.systems.federation.language.tree import EVERYTHING, RESERVED, And, Expression, Not, Or, Predicate, read
from overlay.systems.federation.measuring.disturbances import FLIGHT_US, Disturbances
from overlay.systems.federation.measuring.records import Facts
from overlay.systems.federation.rows import Noted, Notified, Subscribed

KNOWN_US = 5_000_000
"""A subscription is at every broker that needs it so long after its own broker accepted it, however busy they are."""
GRACE_US = 1_000_000
"""What ended for the consumer so long ago may have been sent before."""
EXPIRY = "expiry"


class Missing(NamedTuple):
    """A note that was owed to a subscription and did not come."""

    subscription: Subscribed
    note: Noted
    cause: str
    """Why it is *in window*; empty: it was lost."""


@dataclass(frozen=True, slots=True)
class Found:
    owed: int = 0
    """Pairs of ν and σ that came or were lost; of queries, one each."""
    lost: int = 0
    in_window: Counter[str] = field(default_factory=Counter)
    """By cause."""
    duplicates: int = 0
    duplicates_cached: int = 0
    """Of those, what a cache answered. A broker does not know what another one has sent a consumer."""
    spurious: int = 0
    missing: Sequence[Missing] = ()
    """What was lost and what is in window. Of a query, one note."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an expression sees of a note."""

    scope: str
    entity_type: str
    entity_id: str
    timestamp: int
    data: Mapping[str, Any]


class _Wanted:
    """A subscription with its test."""

    __slots__ = ("expression", "is_known", "of", "test")

    def __init__(self, of: Subscribed) -> None:
        self.of = of
        self.expression = read(json.loads(of.expression)) if of.expression else EVERYTHING
        self.is_known = all(name in RESERVED for name in _names(self.expression))
        self.test: Test = compiled(self.expression)

    def takes(self, note: _Seen) -> bool:
        return note.scope in self.of.scopes and (not self.is_known or self.test(note))


def _names(expression: Expression) -> Iterator[str]:
    match expression:
        case Predicate(name=name):
            yield name
        case Not(part):
            yield from _names(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _names(part)


Nid = tuple[str, int]


class Oracle:
    """``found`` is about subscriptions intended, notes published and NOTIFYs received while measuring."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._disturbances = Disturbances(facts.events)
        self._is_one_domain = all(one.name != "ForeignNeighbour" for one in facts.events)
        self._notes: dict[Nid, _Seen] = {(one.provider, one.number): self._seen(one) for one in facts.notes}
        self._by_scope: dict[str, list[Noted]] = defaultdict(list)
        for note in sorted(facts.published, key=lambda one: one.published_us):
            self._by_scope[note.scope].append(note)
        self._came: dict[tuple[str, int], dict[Nid, Notified]] = defaultdict(dict)
        """By subscription, the first NOTIFY with each note."""
        for one in facts.notifies:
            self._came[one.client, one.number].setdefault((one.provider, one.note), one)
        self._published = {(one.provider, one.number): one.published_us for one in facts.notes}

    def found(self) -> Found:
        measured = self._facts.measured
        came, missing = 0, list[Missing]()
        for one in measured:
            number, further = self._of_query(one) if one.once else self._of_stream(one)
            came += number
            missing += further
        in_window = Counter(one.cause for one in missing if one.cause)
        lost = len(missing) - in_window.total()
        return Found(came + lost, lost, in_window, *self._duplicates(), self._spurious(), missing)

    # ---- owed

    def _of_query(self, one: Subscribed) -> tuple[int, list[Missing]]:
        """A query is owed one note."""
        if 0 < one.first_us <= self._facts.expires_us(one):
            return 1, []
        missing = list(self._missing(_Wanted(one)))
        return 0, [found for found in missing if not found.cause][:1] or missing[:1]

    def _of_stream(self, one: Subscribed) -> tuple[int, list[Missing]]:
        return len(self._came[one.client, one.number]), list(self._missing(_Wanted(one)))

    def _missing(self, wanted: _Wanted) -> Iterator[Missing]:
        """Each note that was owed and did not come, or would have been but for its cause."""
        one = wanted.of
        if not one.accepted_us or not wanted.is_known:
            return
        end = self._end(one)
        came = self._came[one.client, one.number]
        shown: dict[str, list[int]] = {}
        for scope in one.scopes:
            for note in _between(self._by_scope[scope], one.accepted_us, end):
                nid = (note.provider, note.number)
                if nid in came or not wanted.test(self._notes[nid]):
                    continue
                shown = shown or self._shown(came)
                cause = self._cause(one, note, shown.get(note.provider, ()), end)
                if cause is not None:
                    yield Missing(one, note, cause)

    def _cause(self, one: Subscribed, note: Noted, shown: Sequence[int], end: int) -> str | None:
        """Why it did not come, ``None`` if it was not owed. ``shown``: when notes that came were published."""
        at = note.published_us
        is_named = f"{one.client}|{one.number}" in note.satisfied
        is_known = self._is_one_domain and at >= one.accepted_us + KNOWN_US
        if not (is_named or is_known or (shown and shown[0] <= at)):
            return None
        if cause := self._disturbances.in_flight(at):
            return cause
        before = self._disturbances.before(at)
        if before and bisect_right(shown, at) == bisect_right(shown, before.at_us):  # none came since
            return before.cause
        return EXPIRY if end <= at + FLIGHT_US else ""

    def _shown(self, came: Mapping[Nid, Notified]) -> dict[str, list[int]]:
        """By provider, when its notes that came, not from a cache, were published."""
        shown: dict[str, list[int]] = defaultdict(list)
        for nid, one in came.items():
            if not one.cached and nid in self._published:
                shown[nid[0]].append(self._published[nid])
        return {provider: sorted(times) for provider, times in shown.items()}

    def _end(self, one: Subscribed) -> int:
        expires = self._facts.expires_us(one)
        return min(expires, one.ended_us) if one.ended_us else expires

    # ---- what should not have come

    def _duplicates(self) -> tuple[int, int]:
        """All, and those from a cache."""
        seen: set[tuple[str, int, str, int]] = set()
        copies = list[Notified]()
        for one in self._facts.notifies:
            if one.received_us >= self._facts.begin_us:
                pair = one.client, one.number, one.provider, one.note
                if pair in seen:
                    copies.append(one)
                seen.add(pair)
        return len(copies), sum(one.cached for one in copies)

    def _spurious(self) -> int:
        """NOTIFYs, each of which may name several subscriptions."""
        wanted = {(one.client, one.number): _Wanted(one) for one in self._facts.subscriptions}
        others: dict[tuple[str, str], list[_Wanted]] = defaultdict(list)
        for one in wanted.values():
            for scope in one.of.scopes:
                others[one.of.client, scope].append(one)
        named: dict[tuple[str, Nid, int], list[_Wanted]] = defaultdict(list)
        for notify in self._facts.notifies:
            if notify.received_us >= self._facts.begin_us:
                of = named[notify.client, (notify.provider, notify.note), notify.received_us]
                if mine := wanted.get((notify.client, notify.number)):
                    of.append(mine)
        return sum(not self._is_wanted(nid, at, of, client, others) for (client, nid, at), of in named.items())

    def _is_wanted(
        self,
        nid: Nid,
        at: int,
        named: Sequence[_Wanted],
        client: str,
        others: Mapping[tuple[str, str], Sequence[_Wanted]],
    ) -> bool:
        note = self._notes.get(nid)
        if note is None:  # of a provider that records nothing
            return any(self._is_live(one.of, at) for one in named)
        candidates = chain(named, others.get((client, note.scope), ()))
        return any(self._is_live(one.of, at) and one.takes(note) for one in candidates)

    def _is_live(self, one: Subscribed, at: int) -> bool:
        """Whether a NOTIFY that arrives then may have been sent for it. A query ends with its first."""
        if not one.sent_us or one.sent_us > at:
            return False
        if one.once and one.first_us and at > one.first_us:
            return False
        return at <= self._end(one) + GRACE_US

    def _seen(self, note: Noted) -> _Seen:
        kind, _, name = note.entity.partition("|")
        return _Seen(note.scope, kind, name, (note.published_us + self._facts.zero_unix_us) // 1000, {})


def _between(notes: Sequence[Noted], begin: int, end: int) -> Sequence[Noted]:
    return notes[bisect_left(notes, begin, key=_published) : bisect_left(notes, end, key=_published)]


def _published(note: Noted) -> int:
    return note.published_us
