"""What was due and did not come, and what came that should not have come."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from overlay.systems.silbops.measuring.absences import Absences, Stays
from overlay.systems.silbops.measuring.outages import Outages
from overlay.systems.silbops.measuring.truth import Publication, Truth
from overlay.systems.silbops.rows import Limits

Pair = tuple[str, int]
"""A publication: its publisher and number."""


class Arrival(NamedTuple):
    """A notification at an application. Times are µs."""

    client: str
    publication: Pair
    received_us: float


class Missing(NamedTuple):
    """A due pair that was not delivered."""

    publication: Pair
    client: str
    cause: str
    """``fault`` or ``kept``; empty: it is lost."""


@dataclass(frozen=True, slots=True)
class Found:
    due: int = 0
    lost: int = 0
    lost_fault: int = 0
    lost_kept: int = 0
    deliveries: int = 0
    duplicates: int = 0
    spurious: int = 0
    latencies_us: Sequence[float] = ()
    """Of deliveries to clients that were not away meanwhile."""
    kept_latencies_us: Sequence[float] = ()
    """Of the others."""
    missing: Sequence[Missing] = ()
    owed: Mapping[Pair, int] = field(default_factory=dict)
    """To how many clients each publication was due."""
    kept: Sequence[Pair] = ()
    """For each of ``kept_latencies_us``, the publication."""
    unwanted: Sequence[Pair] = ()
    """For each spurious delivery, the publication."""


@dataclass(slots=True)
class Oracle:
    truth: Truth
    absences: Mapping[str, Absences]
    stays: Mapping[str, Stays]
    outages: Outages
    limits: Limits
    _due_by_client: dict[str, list[Publication]] = field(default_factory=lambda: defaultdict(list))

    def found(self, publications: Sequence[Publication], arrivals: Sequence[Arrival]) -> Found:
        """``arrivals``: of these publications, and of unknown ones."""
        first: dict[tuple[str, Pair], float] = {}
        copies = 0
        for one in sorted(arrivals, key=lambda each: each.received_us):
            key = one.client, one.publication
            copies += key in first
            first.setdefault(key, one.received_us)
        known = {(one.client, one.number): one for one in publications}
        missing, allowed = list[Missing](), set[tuple[str, Pair]]()
        due: dict[Pair, int] = {}
        for publication in sorted(publications, key=lambda each: each.published_us):
            owed = self.truth.owed(publication)
            pair = publication.client, publication.number
            allowed.update((client, pair) for client in owed.allowed)
            due[pair] = len(owed.due)
            for client in sorted(owed.due):
                self._due_by_client[client].append(publication)
                if (client, pair) not in first:
                    missing.append(Missing(pair, client, ""))
        missing = [one._replace(cause=self._cause(known[one.publication], one.client)) for one in missing]
        counted = Counter(one.cause for one in missing)
        usual, kept, late = self._latencies(first, known)
        unwanted = [key[1] for key in first if key not in allowed]
        return Found(
            due=sum(due.values()),
            lost=counted[""],
            lost_fault=counted["fault"],
            lost_kept=counted["kept"],
            deliveries=len(first),
            duplicates=copies,
            spurious=len(unwanted),
            latencies_us=usual,
            kept_latencies_us=kept,
            missing=missing,
            owed=due,
            kept=late,
            unwanted=unwanted,
        )

    def _cause(self, one: Publication, client: str) -> str:
        """Why it did not come; empty: it should have come."""
        ends = self.stays.get(one.client, _NOWHERE), self.stays.get(client, _NOWHERE)
        if self.outages.on_way(*ends, one.published_us, one.processed_us):
            return "fault"
        of, window = self.absences.get(client, _NEVER), (one.published_us, one.processed_us)
        gap = of.during(*window) or of.move_during(*window)
        if gap is None:
            return ""
        waiting = [each for each in self._due_by_client[client] if gap.from_us <= each.processed_us <= gap.until_us]
        newer = sum(each.published_us > one.published_us for each in waiting)
        is_over = newer >= self.limits.keep_messages or gap.until_us - gap.from_us > self.limits.keep_s * 1e6
        return "kept" if is_over else ""

    def _latencies(
        self, first: Mapping[tuple[str, Pair], float], known: Mapping[Pair, Publication]
    ) -> tuple[list[float], list[float], list[Pair]]:
        """Usual ones, and those of clients that were away, with their publications."""
        usual, kept, late = list[float](), list[float](), list[Pair]()
        for (client, pair), received in first.items():
            one = known.get(pair)
            if one is None:
                continue
            if self.absences.get(client, _NEVER).during(one.published_us, received) is None:
                usual.append(received - one.intended_us)
            else:
                kept.append(received - one.intended_us)
                late.append(pair)
        return usual, kept, late


_NOWHERE, _NEVER = Stays(), Absences(())
