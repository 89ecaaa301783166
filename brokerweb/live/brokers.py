"""The brokers of a run, all of them in a row each or one looked at closely: for its page and for REST.

Counterparts: ``snapshots`` has loads and memories of all, ``systems`` what one of them wrote down, ``networks.looking``
the same of networks. Nothing is asked of a broker.
"""

from __future__ import annotations

from typing import Any

from brokerweb.brokers.rows import merged
from brokerweb.experiments.models import Run
from brokerweb.live import snapshots
from brokerweb.systems.registry import web_of


def known(run: Run) -> list[dict[str, Any]]:
    """What the database knows of a run's brokers: the supervisor's last word on each, and what a summary measured."""
    return merged(snapshots.brokers_of(run), (run.summary.get("memory") or {}).get("brokers") or [], [])


def of_run(run: Run) -> dict[str, Any]:
    """``{t_s, brokers}``: a row for each broker of which anything is known, with its state, load and memory.

    Loads are of the last second, and over measuring once that has ended. Memory is that of now, and of a run that was
    collected the mean while measuring, as in its summary.
    """
    frame = snapshots.current(run)
    measured = (run.summary.get("memory") or {}).get("brokers")
    memory = measured or (frame.get("memory") or {}).get("brokers") or []
    loads = (frame.get("load") or {}).get("brokers") or []
    return {"t_s": frame.get("t_s"), "brokers": merged(frame.get("brokers") or [], memory, loads)}


def one_of(run: Run, index: int) -> dict[str, Any] | None:
    """Everything that is known of one broker; ``None`` where the run has none of this number.

    ``now`` is its row of ``of_run``; the rest is what its system says of it.
    """
    if not 0 <= index < run.configuration["topology"]["brokers"]:
        return None
    shown = of_run(run)
    now = next((row for row in shown["brokers"] if row["index"] == index), {"index": index})
    told = web_of(run.configuration["system"]).server_of_run(run, index, shown)
    return {"index": index, "t_s": shown["t_s"], "now": now, **told}
