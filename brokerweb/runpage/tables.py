"""The tables of a run's page, whole: its queries and its brokers, to take away."""

from __future__ import annotations

from collections.abc import Iterable

from brokerweb.brokers import rows
from brokerweb.experiments import traces
from brokerweb.experiments.models import Run
from brokerweb.kit.tables import Table
from brokerweb.live import brokers
from overlay.core.engines import SIMULATED

QUERY = ("id", "entity", "timestamp_ms", "outcome", "ms", "hops", "messages", "asked", "replicas", "partial")
BROKER = (
    *("index", "state", "address", "restarts", "reason", "load_per_s", "cores", "entries", "neighbours"),
    *rows.MEMORY,
)

ALL = 1 << 40
"""More than are ever kept of a run."""


def queries(run: Run, outcomes: Iterable[str], order: str) -> Table:
    """A row for each query that is kept of these outcomes, in this order."""
    rows = traces.listing(run, outcomes, order, 0, ALL).rows
    return Table(QUERY, [[row[name] for name in QUERY] for row in rows])


def of_brokers(run: Run) -> Table:
    """A row for each broker of which anything is known; what is not known of it is nothing."""
    return Table(BROKER, [[row.get(name) for name in BROKER] for row in brokers.of_run(run)["brokers"]])


def named(what: str, run: Run) -> str:
    """What a file of it is called."""
    return f"{what}-{run.pk}{'-simulated' if run.engine == SIMULATED else ''}"
