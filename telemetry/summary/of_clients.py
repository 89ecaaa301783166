"""The summary of a run's deliveries, connections and hand-overs. Pure.

As for requests, only those published, intended or begun during measuring count. Delays start at the scheduled time of
the publication, so the delays caused by a stalled server are fully counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overlay.journal.facts import CONNECTED, Connection, Delivery, HandOver
from telemetry.statistics import metrics


def summarised(facts: Mapping[str, Sequence[Any]], duration_us: int) -> dict[str, Any]:
    """``deliveries``, ``connections`` and ``handovers``, as far as the run has them; times in microseconds."""
    found: dict[str, Any] = {}
    if deliveries := facts.get("deliveries"):
        found["deliveries"] = _deliveries(deliveries, duration_us)
    if connections := facts.get("connections"):
        found["connections"] = _connections(connections)
    if handovers := facts.get("handovers"):
        found["handovers"] = _handovers(handovers)
    return found


def _deliveries(all_of_them: Sequence[Delivery], duration_us: int) -> dict[str, Any]:
    measured = [one for one in all_of_them if one.phase == "measuring"]
    first = [one for one in measured if one.copy == 1]
    return {
        "arrived": len(measured),
        "delivered": len(first),
        "duplicates": len(measured) - len(first),
        "publications": len({one.publication for one in measured}),
        "receivers": len({(one.role, one.client) for one in measured}),
        "per_s": metrics.rate(len(first), duration_us),
        "delay_us": metrics.spread(np.array([one.received_us - one.published_us for one in first], np.int64)),
    }


def _connections(all_of_them: Sequence[Connection]) -> dict[str, Any]:
    measured = [one for one in all_of_them if one.phase == "measuring"]
    outcomes = Counter(one.outcome for one in measured)
    opened = [one for one in measured if one.opened_us]
    return {
        **{outcome: outcomes[outcome] for outcome in CONNECTED},
        "connecting_us": metrics.spread(np.array([one.opened_us - one.intended_us for one in opened], np.int64)),
        "lasted_us": metrics.spread(np.array([one.ended_us - one.opened_us for one in opened], np.int64)),
    }


def _handovers(all_of_them: Sequence[HandOver]) -> dict[str, Any]:
    measured = [one for one in all_of_them if one.phase == "measuring"]
    done = [one for one in measured if one.outcome == "done"]
    told = [one.missed for one in measured if one.missed >= 0]
    return {
        "done": len(done),
        "failed": len(measured) - len(done),
        "took_us": metrics.spread(np.array([one.ended_us - one.began_us for one in done], np.int64)),
        "missed": sum(told) if told else None,
    }
