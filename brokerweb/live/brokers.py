"""Brokers of a run, all as rows or one in detail, for its page and for REST.

Counterparts: ``snapshots`` has load and memory of all brokers, ``systems`` the reports of one, ``networks.live_data``
does the same for networks. Brokers are not queried.
"""

from __future__ import annotations

from typing import Any

from brokerweb.brokers.names import ServerNames
from brokerweb.brokers.rows import merged
from brokerweb.experiments.models import Run
from brokerweb.live import snapshots
from brokerweb.systems.registry import web_of


def known(run: Run) -> list[dict[str, Any]]:
    """Data of a run's brokers in the database: the supervisor's last report, and figures of the summary."""
    return merged(snapshots.brokers_of(run), (run.summary.get("memory") or {}).get("brokers") or [], [])


def of_run(run: Run) -> dict[str, Any]:
    """``{t_s, brokers}``: one row per known broker, with state, load and memory.

    Load is that of the last second, or the average over the measurement once it has ended. Memory is the current value,
    or the mean of the measurement once the run is collected.
    """
    frame = snapshots.current(run)
    measured = (run.summary.get("memory") or {}).get("brokers")
    memory = measured or (frame.get("memory") or {}).get("brokers") or []
    loads = (frame.get("load") or {}).get("brokers") or []
    servers = ServerNames.of(run.configuration)
    rows = merged(frame.get("brokers") or [], memory, loads)
    return {"t_s": frame.get("t_s"), "brokers": [{**row, "name": servers.process(row["index"])} for row in rows]}


def one_of(run: Run, index: int) -> dict[str, Any] | None:
    """All data of one broker; ``None`` if the run has no such broker.

    ``now`` is its row of ``of_run``; its system provides the rest.
    """
    if not 0 <= index < len(ServerNames.of(run.configuration)):
        return None
    shown = of_run(run)
    now = next((row for row in shown["brokers"] if row["index"] == index), {"index": index})
    told = web_of(run.configuration["system"]).server_of_run(run, index, shown)
    return {"index": index, "t_s": shown["t_s"], "now": now, **told}
