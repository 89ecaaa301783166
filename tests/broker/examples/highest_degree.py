"""The neighbour with the most neighbours first (Adamic et al.: Search in power-law networks, 2001)."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.search.strategy import View
from overlay.systems.context_broker.broker.search.walk import Walk


class HighestDegree(Walk):
    name = "highest-degree"
    summary = "one walk, to the neighbour with the most neighbours"
    watches = True

    def choose(self, candidates: Sequence[Address], view: View) -> Address | None:
        fresh = [neighbour for neighbour in candidates if neighbour not in view.path]
        most = max((view.degree(neighbour) or 0 for neighbour in fresh), default=0)
        best = [neighbour for neighbour in fresh if (view.degree(neighbour) or 0) == most]
        return super().choose(best or candidates, view)
