"""What Spark computed of the runs of a report. Counterparts: ``telemetry.spark.pipeline`` computes it, and
``configuration_rows`` and ``request_charts`` read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STARTS = {"from_intended": "response_us", "from_sent": "response_from_sent_us"}
"""From which instant a response time runs, and Spark's column of it."""
CURVE = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999)
"""The shares of requests at which the percentile chart is drawn."""

Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What Spark computed. Keys are runs, or for ``pooled`` and ``curves`` configurations.

    ``response`` and ``pooled`` rows hold ``answers`` and ``<column>_<statistic>`` for the columns of ``STARTS``;
    ``curves`` rows ``curve``, one value for each of ``CURVE``; ``outcomes`` a count by outcome; ``truths`` a count by
    truth, ``existed`` and the median ``stale_ms``; ``memory`` bytes by name, the mean over a run's brokers.
    """

    response: Rows
    pooled: Rows
    curves: Rows
    outcomes: Rows
    truths: Rows
    memory: Rows
