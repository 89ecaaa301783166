"""The brokers of a run, all of them in a row each or one looked at closely: for its page and for REST.

Counterparts: ``snapshots`` has loads and memories of all, ``telemetry.systems.context_broker.brokers`` and
``telemetry.systems.context_broker.recent_messages`` what one of them wrote down, ``networks.looking`` the same of
networks, ``panel`` how it is worded. Nothing is asked of a broker. Of runs that go on, what was read of journals is
kept between two looks, of the last few that somebody looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.brokers.rows import merged
from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.kit.following import Following
from brokerweb.live import snapshots
from overlay.systems.registry import SYSTEMS
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.brokers import BrokerWindow, linked_to
from telemetry.systems.context_broker.entries import Word
from telemetry.systems.context_broker.recent_messages import lately
from telemetry.systems.context_broker.updates import Updates

KEPT, RUNS_KEPT = 32, 4
"""Brokers of runs that go on whose journals are followed at a time, and runs whose providers are."""

_brokers: Following[tuple[str, int], BrokerWindow] = Following(KEPT)
_providers: Following[str, Updates] = Following(RUNS_KEPT)


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

    ``now`` is its row of ``of_run``; ``own`` what its journal says, and ``lately`` what its recording does, each
    ``None`` where there is nothing. One query in ``traced_one_in`` is traced, 0 for none.
    """
    topology = run.configuration["topology"]
    if not 0 <= index < topology["brokers"]:
        return None
    shown = of_run(run)
    now = next((row for row in shown["brokers"] if row["index"] == index), {"index": index})
    names = {row["address"]: row["index"] for row in shown["brokers"] if row.get("address")}
    files = RunFiles(Path(settings.RUNS) / run.pk)
    settings_of_all = SYSTEMS[run.configuration["system"]].whole(run.configuration["settings"])
    # A hash table's brokers hand on what providers write to them: an update says nothing of the table here.
    updates = () if settings_of_all.get("arm") == "structured" else _updates(run, files, index)
    own = _advanced(run, files, index, names, updates)
    known = {row["address"]: row["index"] for row in (own or {}).get("neighbours", ()) if row["index"] is not None}
    recorded = lately(files, index, {**known, **names}) if run.configuration.get("record_mb") else None
    traced_one_in = int(settings_of_all.get("trace_one_in") or 0)
    told = {"index": index, "t_s": shown["t_s"], "traced_one_in": traced_one_in}
    return {**told, "now": now, "own": own, "lately": recorded}


def _advanced(
    run: Run, files: RunFiles, index: int, names: dict[str, int], updates: Sequence[Word]
) -> dict[str, Any] | None:
    valid_ms = run.configuration["workload"].get("valid_ms")

    def make() -> BrokerWindow:
        return BrokerWindow(files, index, linked_to(index, run.configuration["topology"]["links"]), names)

    def read(window: BrokerWindow) -> dict[str, Any] | None:
        return window.advance(updates, valid_ms)

    return read(make()) if run.state in ENDED else _brokers.look((run.pk, index), make, read)


def _updates(run: Run, files: RunFiles, index: int) -> Sequence[Word]:
    """What providers wrote to this broker, the newest."""

    def read(providers: Updates) -> Sequence[Word]:
        providers.advance()
        return providers.of(index)

    return read(Updates(files)) if run.state in ENDED else _providers.look(run.pk, lambda: Updates(files), read)
