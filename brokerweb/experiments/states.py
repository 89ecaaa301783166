"""The state machine of a run.

::

    queued ─> launching ─> warming ─> measuring ─> collecting ─> done
       │          │           │           │            │
       └──────────┴───────────┴───────────┴────────────┴──> failed, cancelled

A run that is stopped while warming or measuring also passes through ``collecting``, so that its data is kept.
A simulated run goes from launching to measuring. It is queued again when the
worker that simulates it exits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from brokerweb.experiments.models import Run, RunEvent, RunState

_S = RunState
TRANSITIONS: dict[str, frozenset[str]] = {
    _S.QUEUED: frozenset({_S.LAUNCHING, _S.CANCELLED, _S.FAILED}),
    _S.LAUNCHING: frozenset({_S.WARMING, _S.MEASURING, _S.COLLECTING, _S.QUEUED, _S.CANCELLED, _S.FAILED}),
    _S.WARMING: frozenset({_S.MEASURING, _S.COLLECTING, _S.CANCELLED, _S.FAILED}),
    _S.MEASURING: frozenset({_S.COLLECTING, _S.QUEUED, _S.CANCELLED, _S.FAILED}),
    _S.COLLECTING: frozenset({_S.DONE, _S.QUEUED, _S.CANCELLED, _S.FAILED}),
}
"""Allowed transitions; any other raises."""

ON_BROKERS = (_S.LAUNCHING, _S.WARMING, _S.MEASURING)
"""States with brokers and clients under a supervisor."""
ACTIVE = (*ON_BROKERS, _S.COLLECTING)
ENDED = (_S.DONE, _S.FAILED, _S.CANCELLED)
UNFINISHED = (_S.QUEUED, *ACTIVE)
NEVER_BEGAN = "Cancelled before it started."
KEPT = "Cancelled. Data measured until then is kept."


def move(run: Run, to: str, reason: str = "", *, detail: str = "", **fields: Any) -> bool:
    """Move the row from the state in which ``run`` was read to ``to`` and record it; False if it was moved meanwhile.

    ``detail`` is recorded if there is no reason. The update is conditional on the epoch, so that a worker whose lease
    was taken over cannot undo anything.
    """
    if to not in TRANSITIONS.get(run.state, frozenset()):
        raise ValueError(f"invalid transition from {run.state} to {to}")
    changes = {"state": to, "reason": reason, **fields}
    if to in ENDED:
        changes.setdefault("ended_at", timezone.now())
        changes.setdefault("progress", 1.0 if to == _S.DONE else run.progress)
    with transaction.atomic():
        moved = Run.objects.filter(pk=run.pk, state=run.state, lease_epoch=run.lease_epoch).update(**changes)
        if moved:
            RunEvent.objects.create(run=run, name=to, detail=reason or detail)
    if moved:
        for name, value in changes.items():
            setattr(run, name, value)
    return bool(moved)


def cancel_queued(ids: Sequence[str]) -> set[str]:
    """Cancel the runs that are still queued, in one step; returns them."""
    with transaction.atomic():
        queued = Run.objects.select_for_update().filter(pk__in=ids, state=_S.QUEUED)
        found = set(queued.values_list("pk", flat=True))
        Run.objects.filter(pk__in=found).update(state=_S.CANCELLED, reason=NEVER_BEGAN, ended_at=timezone.now())
        RunEvent.objects.bulk_create(RunEvent(run_id=pk, name=_S.CANCELLED, detail=NEVER_BEGAN) for pk in found)
    return found


def note(run: Run, name: str, detail: str = "") -> None:
    """Record an event of a run without a state change."""
    RunEvent.objects.create(run=run, name=name, detail=detail)
