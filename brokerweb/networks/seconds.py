"""What was measured of one network within a second. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from brokerweb.networks.probes import LOOKS, records_of
from brokerweb.networks.thinning import Figures, together

LASTS = 10
"""Seconds for which a look counts: two polls may fail."""


class Second:
    """Collects one second after another."""

    def __init__(self, gauges: Sequence[str] = ()) -> None:
        """``gauges``: those of its system that looks have, too."""
        self._gauges = tuple(gauges)
        self._took_us: dict[int, list[float | None]] = defaultdict(list)
        self._looks: dict[int, tuple[int, dict[str, float]]] = {}
        """For how many more seconds it counts, and the figures."""

    def take_probe(self, broker: int, took_us: float | None) -> None:
        """Add a probe of one broker; ``None`` if not answered in time."""
        self._took_us[broker].append(took_us)

    def take_look(self, broker: int, figures: Mapping[str, float | None]) -> None:
        """Add polled values of ``LOOKS`` and gauges, which count until the next ones."""
        names = (*LOOKS, *self._gauges)
        known = {name: value for name in names if (value := figures.get(name)) is not None}
        self._looks[broker] = LASTS, known

    def closed(self) -> dict[int | None, Figures]:
        """Figures by broker, and under ``None`` of all; empty if nothing was measured. The next second begins."""
        found: dict[int | None, Figures] = {
            broker: self._of(broker) for broker, took_us in self._took_us.items() if took_us
        }
        for took_us in self._took_us.values():
            took_us.clear()
        self._looks = {broker: (left - 1, one) for broker, (left, one) in self._looks.items() if left > 1}
        if not found:
            return {}
        records = records_of(0, found.values(), self._gauges)
        return {**found, None: together(records, np.arange(len(found)))}

    def _of(self, broker: int) -> Figures:
        took_us = self._took_us[broker]
        answered = [one for one in took_us if one is not None]
        figures: Figures = {"asked": len(took_us), "answered": len(answered), "sum_us": sum(answered)}
        if answered:
            p50, p95 = np.quantile(answered, (0.5, 0.95)) if len(answered) > 1 else (answered[0], answered[0])
            figures |= {"p50_us": float(p50), "p95_us": float(p95)}
        if broker in self._looks:
            figures |= {**self._looks[broker][1], "looks_s": 1}
        return figures
