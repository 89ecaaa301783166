"""Live snapshots of a run: created each second by ``manage.py livefeed``, read by websockets and REST.

A snapshot is complete. It is cached while the run is live; otherwise (Redis unavailable, or the run has ended) it is
computed from the run's journals, which is slower and gives the same result.
"""

from __future__ import annotations

import json
import logging
from typing import Any, TypedDict

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from brokerweb.experiments.models import Run
from brokerweb.experiments.queue_position import Queue
from brokerweb.experiments.states import ENDED
from telemetry.lake.runs import RunFiles
from telemetry.live import event_words
from telemetry.live.window import LiveWindow

log = logging.getLogger(__name__)

KEEP_S = 3_600


def group_of(run_id: str) -> str:
    """The channel group on which a run's snapshots are sent, as ``{"type": "snapshot", "frame": …}``."""
    return f"run.{run_id}"


class Frame(TypedDict):
    """A snapshot as sent: serialised once for all viewers."""

    seq: int
    state: str
    text: str


def framed(snapshot: dict[str, Any]) -> Frame:
    """``snapshot`` as JSON, with the metadata for consumers."""
    return {"seq": snapshot["seq"], "state": snapshot["state"], "text": json.dumps(snapshot, separators=(",", ":"))}


def run_part(run: Run, queue: Queue | None = None) -> dict[str, Any]:
    """The snapshot's part from the database."""
    position = (queue or Queue()).position(run)
    return {
        "run": run.pk,
        # Milliseconds since the run was created: increases across processes.
        "seq": int((timezone.now() - run.created).total_seconds() * 1000),
        "state": run.state,
        "progress": run.progress,
        "reason": run.reason,
        "eta_s": position.eta_s,
        "waiting_for": position.waiting_for,
        "verdict": run.verdict,
        "verdict_reasons": run.verdict_reasons,
        "ended": run.state in ENDED,
        "brokers": brokers_of(run),
    }


def brokers_of(run: Run) -> list[dict[str, Any]]:
    """``[{index, state, address, restarts, reason}]`` from the supervisor's last report; no reason for a normal
    exit.
    """
    kept = ("index", "state", "address", "restarts", "reason")
    rows = ({name: row.get(name) for name in kept} for row in run.observed.get("brokers") or [])
    return [{**row, "reason": "" if row["reason"] == event_words.WELL else row["reason"]} for row in rows]


def whole(window: dict[str, Any], run: Run, queue: Queue | None = None) -> dict[str, Any]:
    """The snapshot from journals and database."""
    return {**window, **run_part(run, queue)}


def window_part(run_id: str) -> dict[str, Any]:
    """The snapshot's part from the journals, read from their beginning."""
    return LiveWindow(RunFiles(settings.RUNS / run_id)).advance()


def current(run: Run) -> dict[str, Any]:
    """The complete current snapshot of ``run``."""
    kept = _kept(run.pk)
    if kept is None:
        kept = window_part(run.pk)
        if run.state in ENDED:
            keep(run.pk, kept)
    return whole(kept, run)


def keep(run_id: str, snapshot: dict[str, Any]) -> None:
    """Cache a snapshot for new viewers; without a cache they compute it."""
    try:
        cache.set(f"snapshot:{run_id}", snapshot, KEEP_S)
    except Exception as error:  # noqa: BLE001  each Redis client has its own classes for "it is away"
        log.warning("snapshot of run %s was not cached: %s", run_id, error)


def _kept(run_id: str) -> dict[str, Any] | None:
    try:
        return cache.get(f"snapshot:{run_id}")
    except Exception as error:  # noqa: BLE001  as above
        log.warning("snapshot of run %s could not be fetched: %s", run_id, error)
        return None
