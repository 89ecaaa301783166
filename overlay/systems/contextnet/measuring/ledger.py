"""What became of each message that was due: in one column of the ledger each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Final

from overlay.core.samples import deviation, mean, quantile
from overlay.systems.contextnet.measuring.facts import Due, Facts
from overlay.systems.contextnet.names import answer_id
from overlay.systems.contextnet.rows import Dropped, Held, Repeated, Stayed, Unanswered

Figures = dict[str, float | None]

DELIVERED, LATE, EXPIRED, EVICTED, REFUSED, LOST = "delivered", "late", "expired", "evicted", "refused", "lost"
COLUMNS: Final = (DELIVERED, LATE, EXPIRED, EVICTED, REFUSED, LOST)


class Ledger:
    def __init__(self, facts: Facts) -> None:
        self.due, self._off = facts.due, facts.disconnecting
        self._unanswered = {one.id for one in facts.rows[Unanswered]}
        self._held = {one.id for one in facts.rows[Held]}
        stays: Sequence[Stayed] = sorted(facts.rows[Stayed], key=lambda one: one.ended_us)
        self._dropped = {one.id: one.ending for one in stays if one.ending in (EXPIRED, EVICTED)}
        self._dropped |= {one.id: EXPIRED for one in facts.rows[Dropped]}
        self._stored = {one.id for one in stays}
        self._repeated: Sequence[Repeated] = facts.rows[Repeated]

    def column(self, one: Due) -> str:
        """One of ``COLUMNS``. What is held may still come, whatever was dropped of its copies."""
        if one.is_answered:
            return DELIVERED
        if one.outcome == "refused" or one.id in self._unanswered:
            return REFUSED
        ids = one.id, answer_id(bytes.fromhex(one.id)).hex()
        if not self._held.isdisjoint(ids):
            return LATE
        return next((self._dropped[id] for id in ids if id in self._dropped), LOST)

    def was_stored(self, one: Due) -> bool:
        """It, or its answer."""
        return bool(self._stored) and (one.id in self._stored or answer_id(bytes.fromhex(one.id)).hex() in self._stored)

    def is_off_at_times(self, one: Due) -> bool:
        return one.node in self._off

    def figures(self) -> Figures:
        counted = Counter(map(self.column, self.due))
        known = {one.id for one in self.due}
        return {
            "sent": len(self.due),
            **{name: counted[name] for name in COLUMNS},
            "stored": sum(map(self.was_stored, self.due)),
            "duplicates": sum(one.id in known for one in self._repeated),
            **self._shares(),
            **self._times(),
        }

    def lost(self) -> int:
        return sum(self.column(one) == LOST for one in self.due)

    def _shares(self) -> Figures:
        return {
            "te": te(self.due),
            "te_inbound": te(one for one in self.due if one.is_inbound),
            "te_outbound": te(one for one in self.due if not one.is_inbound),
            "te_disconnecting": te(filter(self.is_off_at_times, self.due)),
            "te_fixed": te(one for one in self.due if not self.is_off_at_times(one)),
            "nodes_with_all_share": self._nodes_with_all(),
        }

    def _nodes_with_all(self) -> float | None:
        """Of the disconnecting nodes; of all, if none disconnect."""
        has_all: dict[int, bool] = {}
        for one in self.due:
            if not self._off or self.is_off_at_times(one):
                has_all[one.node] = has_all.get(one.node, True) and one.is_answered
        return percent(sum(has_all.values()), len(has_all))

    def _times(self) -> Figures:
        of_all = self._rtts(lambda one: True)
        of_fixed = self._rtts(lambda one: not self.is_off_at_times(one))
        of_others = self._rtts(self.is_off_at_times)
        return {
            **rtt_figures("rtt", of_all),
            **rtt_figures("rtt_fixed", of_fixed),
            **rtt_figures("rtt_disconnecting", of_others),
            "share_within_20ms": band(of_all, 0, 20),
            "share_within_50ms": band(of_all, 0, 50),
            "share_over_100ms": band(of_all, 100, inf),
            "share_over_2s": band(of_all, 2_000, inf),
            "share_1s_to_2s_disconnecting": band(of_others, 1_000, 2_000),
            "share_over_2s_disconnecting": band(of_others, 2_000, inf),
        }

    def _rtts(self, is_meant: Callable[[Due], bool]) -> list[int]:
        """In order of size."""
        return sorted(one.rtt_us for one in self.due if one.is_answered and is_meant(one))


def te(due: Iterable[Due]) -> float | None:
    answered = total = 0
    for one in due:
        total += 1
        answered += one.is_answered
    return percent(answered, total)


def percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


def band(rtts: Sequence[int], above_ms: float, until_ms: float) -> float | None:
    """The share of ``rtts`` (µs) above one bound and up to another."""
    return percent(sum(above_ms < rtt / 1e3 <= until_ms for rtt in rtts), len(rtts))


def rtt_figures(name: str, ordered: Sequence[int]) -> Mapping[str, float | None]:
    return {
        f"{name}_mean_us": mean(ordered),
        f"{name}_sd_us": deviation(ordered),
        f"{name}_p50_us": quantile(ordered, 0.5),
        f"{name}_p99_us": quantile(ordered, 0.99),
    }
