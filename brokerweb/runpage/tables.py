"""The table of a run's brokers, whole, to take away."""

from __future__ import annotations

from brokerweb.brokers import rows
from brokerweb.experiments.models import Run
from brokerweb.kit.tables import Table
from brokerweb.live import brokers
from overlay.core.engines import SIMULATED

BROKER = (
    *("index", "state", "address", "restarts", "reason", "load_per_s", "cores", "entries", "neighbours"),
    *rows.MEMORY,
)


def of_brokers(run: Run) -> Table:
    """A row for each broker of which anything is known; what is not known of it is nothing."""
    return Table(BROKER, [[row.get(name) for name in BROKER] for row in brokers.of_run(run)["brokers"]])


def named(what: str, run: Run) -> str:
    """What a file of it is called."""
    return f"{what}-{run.pk}{'-simulated' if run.engine == SIMULATED else ''}"
