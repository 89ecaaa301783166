"""How long neighbours took to know that a broker was gone, by churn. Pure.

Counterparts: ``overlay.faults.churn`` says who goes; brokers report ``NeighbourLost`` and ``NeighbourLeft``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

from overlay.faults.churn import DEPARTURES, HAPPENED, UP
from overlay.journal.facts import Event, Start
from telemetry.systems.context_broker.names import broker_index

NOTICED = ("NeighbourLost", "NeighbourLeft")
GONE = tuple(HAPPENED[what] for what in DEPARTURES)


def known(events: Iterable[Event], starts: Iterable[Start]) -> dict[str, Any]:
    """``{count, noticed, known_ms}``: departures, those that a neighbour noticed before the broker was back, and the
    mean time from these until the last neighbour did that noticed; ``None`` where none was noticed.
    """
    ordered = sorted(events, key=lambda event: event.at_us)
    indices = {start.address: broker_index(start.process) for start in starts if start.address}
    took = [_until_last(at, ordered, indices) for at, event in enumerate(ordered) if event.name in GONE]
    noticed = [one for one in took if one is not None]
    return {"count": len(took), "noticed": len(noticed), "known_ms": fmean(noticed) / 1000 if noticed else None}


def _until_last(at: int, events: list[Event], indices: dict[str, int | None]) -> int | None:
    gone = events[at]
    times = list(_noticed(gone.detail.get("broker"), events[at + 1 :], indices))
    return times[-1] - gone.at_us if times else None


def _noticed(broker: Any, later: Iterable[Event], indices: dict[str, int | None]) -> Iterator[int]:
    """When each neighbour did, until the broker came back."""
    for event in later:
        if event.name == HAPPENED[UP] and event.detail.get("broker") == broker:
            return
        if event.name in NOTICED and indices.get(str(event.detail.get("neighbour"))) == broker:
            yield event.at_us
