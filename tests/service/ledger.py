"""What was acknowledged, what was queried and which brokers died: the verdict on each query. Pure; times are seconds.

A query is one that must be answered if the latest value acknowledged before it was still valid when it ended, and its
holder did not die in between. ACK 102 lasts as long as its broker's process, so other queries may find nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

Broker = int


@dataclass(frozen=True, slots=True)
class Stored:
    """A value that was acknowledged."""

    number: int
    holder: Broker | None
    """``None``: the client was not told, so any death counts as its holder's."""
    at: float
    until: float
    """The end of its validity."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a client, from its first request to its answer, with all repetitions."""

    client: str
    entity: str
    begun: float
    ended: float
    number: int | None
    """``None``: it had no answer."""
    error: str = ""


@dataclass
class Verdict:
    """Of the queries of one kind of client. ``due``: those that must be answered."""

    queries: int = 0
    due: int = 0
    answered: int = 0
    older: int = 0
    """Answered with an older value than the latest acknowledged."""
    missed: list[Query] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of those due, how many were answered; 1 if none was due."""
        return self.answered / self.due if self.due else 1.0


class Ledger:
    """Append only; several threads may write."""

    def __init__(self) -> None:
        self.stored: defaultdict[str, list[Stored]] = defaultdict(list)
        self.queries: list[Query] = []
        self.refused: defaultdict[str, list[str]] = defaultdict(list)
        """Why values were not acknowledged, by client."""
        self.deaths: list[tuple[float, Broker]] = []
        self.moves: list[tuple[float, Broker]] = []
        """When a broker began to give its entries to others: from then on, those may hold what it had."""

    def last(self, entity: str, at: float) -> Stored | None:
        """The latest value that was acknowledged by then."""
        known = self.stored[entity]
        found = bisect_right(known, at, key=lambda one: one.at)
        return known[found - 1] if found else None

    def survived(self, stored: Stored, begun: float, until: float) -> bool:
        """Whether no process that held it died from ``begun`` to ``until``."""
        deaths = [(at, broker) for at, broker in self.deaths if begun <= at <= until]
        if stored.holder is None:
            return not deaths
        given_away = min(
            (at for at, broker in self.moves if broker == stored.holder and at >= stored.at), default=until
        )
        return not any(broker == stored.holder or at >= given_away for at, broker in deaths)

    def verdicts(self) -> dict[str, Verdict]:
        """By kind of client."""
        verdicts: defaultdict[str, Verdict] = defaultdict(Verdict)
        for query in self.queries:
            self._judge(query, verdicts[query.client])
        return dict(verdicts)

    def _judge(self, query: Query, verdict: Verdict) -> None:
        verdict.queries += 1
        stored = self.last(query.entity, query.begun)
        if stored is None or query.ended >= stored.until or not self.survived(stored, stored.at, query.ended):
            return
        verdict.due += 1
        if query.number is None:
            verdict.missed.append(query)
            return
        verdict.answered += 1
        verdict.older += query.number < stored.number
