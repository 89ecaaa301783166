"""Export of a run's brokers."""

from __future__ import annotations

from brokerweb.brokers import rows
from brokerweb.experiments.models import Run
from brokerweb.kit.tables import Table
from brokerweb.live import brokers
from overlay.core.engines import SIMULATED

BROKER = (
    *("index", "name", "state", "address", "restarts", "reason", "load_per_s", "cores", "entries", "neighbours"),
    *rows.MEMORY,
)


def of_brokers(run: Run) -> Table:
    """One row per known broker; unknown values are empty."""
    return Table(BROKER, [[row.get(name) for name in BROKER] for row in brokers.of_run(run)["brokers"]])


def named(what: str, run: Run) -> str:
    """The file name of an export."""
    return f"{what}-{run.pk}{'-simulated' if run.engine == SIMULATED else ''}"
