"""Merges steps of a network's time series into coarser ones. Pure but for the ring file that it reads and writes.

Coarser steps are computed from the records of single seconds, which hold one probe per broker: quantiles are therefore
exact, counts and sums are preserved, and what a restarted process finds in the file is all that it needs. Load and
memory are weighted with the time in which they were known, hops with the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from brokerweb.networks.probes import COUNTS, LOOKS, SECONDS, TIERS, Probes, Records, Tier, gauges_of

COARSER = TIERS[1:]
QUANTILES = {"p50_us": 0.50, "p95_us": 0.95}
SUMMED = ("answers_per_s", "load_per_s", "cores", "private_bytes")
"""What all brokers together have is the sum of what each has; so it is with gauges of a system."""

Figures = dict[str, float]


def merged(found: Records) -> Figures:
    """The figures of one broker in a step, from its records within it."""
    figures: Figures = {name: found[name].sum().item() for name in COUNTS}
    figures |= _quantiles(found["p50_us"], found["answered"])
    for name in (*LOOKS, *gauges_of(found)):
        weights = found["looks_s"] * (found["answers_per_s"] if name == "hops" else 1)
        if (mean := _mean(found[name], weights)) is not None:
            figures[name] = mean
    return figures


def together(found: Records, brokers: NDArray[np.integer]) -> Figures:
    """The figures of all brokers in a step, from their records and whose each is: times of all probes, sums of loads
    and sizes.
    """
    figures: Figures = {name: found[name].sum().item() for name in ("asked", "answered", "sum_us")}
    figures["looks_s"] = max(np.bincount(brokers, found["looks_s"]), default=0.0)
    figures |= _quantiles(found["p50_us"], found["answered"])
    for name in (*SUMMED, *gauges_of(found)):
        known = ~np.isnan(found[name]) & (found["looks_s"] > 0)
        weights = np.bincount(brokers[known], found["looks_s"][known])
        sums = np.bincount(brokers[known], found[name][known] * found["looks_s"][known])
        if (weights > 0).any():
            figures[name] = float((sums[weights > 0] / weights[weights > 0]).sum())
    if (hops := _mean(found["hops"], found["looks_s"] * found["answers_per_s"])) is not None:
        figures["hops"] = hops
    return figures


def _mean(values: NDArray[np.floating], weights: NDArray[np.floating]) -> float | None:
    known = ~np.isnan(values) & (weights > 0)
    if not known.any():
        return None
    return float(np.average(values[known].astype(float), weights=weights[known]))


def _quantiles(values: NDArray[np.floating], counts: NDArray[np.integer]) -> Figures:
    """Of probes, each second's by its median: with one probe a second, of the probes themselves."""
    answered = counts > 0
    if not answered.any():
        return {}
    took_us = np.repeat(values[answered].astype(float), counts[answered])
    return dict(zip(QUANTILES, np.quantile(took_us, list(QUANTILES.values())).tolist(), strict=True))


class Thinning:
    """Keeps the coarser tiers of one file up to date."""

    def __init__(self, probes: Probes) -> None:
        self._probes = probes
        self._done_s: dict[Tier, int] = {}
        """End of the last step that was written, by tier."""

    def go_on(self, now_s: int, brokers: Sequence[int]) -> dict[Tier, list[int]]:
        """Write the steps that ended by ``now_s``, Unix time, and are still missing; returns their begins.

        After a restart these are all whose seconds are still known. Raises ``OSError``.
        """
        written: dict[Tier, list[int]] = {}
        for tier in COARSER:
            end_s = now_s // tier.step_s * tier.step_s
            begin_s = self._done_s.get(tier)
            for at_s in self._missing(tier, end_s) if begin_s is None else range(begin_s, end_s, tier.step_s):
                if found := self._of_step(tier, at_s, brokers):
                    self._probes.write(tier, at_s, found)
                    written.setdefault(tier, []).append(at_s)
            self._done_s[tier] = end_s
        return written

    def _missing(self, tier: Tier, end_s: int) -> list[int]:
        """Steps of which seconds are known, and that were not written."""
        oldest_s = max(0, end_s - SECONDS.covers_s) // tier.step_s * tier.step_s
        steps, seconds = (
            self._probes.records(one, (None,), oldest_s, end_s)[None]["at_s"].tolist() for one in (tier, SECONDS)
        )
        return sorted({at_s // tier.step_s * tier.step_s for at_s in seconds} - {*steps})

    def _of_step(self, tier: Tier, at_s: int, brokers: Sequence[int]) -> Mapping[int | None, Figures]:
        found = self._probes.records(SECONDS, brokers, at_s, at_s + tier.step_s)
        known = {broker: rows for broker, rows in found.items() if rows.size}
        if not known:
            return {}
        owners = np.repeat(np.arange(len(known)), [rows.size for rows in known.values()])
        every = together(np.concatenate(list(known.values())), owners)
        return {**{broker: merged(rows) for broker, rows in known.items()}, None: every}
