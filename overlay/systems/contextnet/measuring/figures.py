"""The measures by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from overlay.journal.facts import Fact
from overlay.systems.contextnet.measuring import balance, casts, storing, trend, trouble
from overlay.systems.contextnet.measuring.facts import Facts
from overlay.systems.contextnet.measuring.ledger import Figures, Ledger


def measures(facts: Iterable[Fact]) -> Mapping[str, float | None]:
    return figures(Facts.of(facts))


def figures(facts: Facts) -> Figures:
    ledger = Ledger(facts)
    return {
        **ledger.figures(),
        **balance.figures(facts),
        **trouble.figures(facts, ledger),
        **storing.figures(facts, ledger),
        **trend.figures(facts),
        "group_wrong": casts.wrong(facts),
    }
