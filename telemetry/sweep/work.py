"""Executes one order of a batch, in any process. Every result is reported, and failures do not affect other orders."""

from __future__ import annotations

import os
import time
import traceback
from dataclasses import asdict
from datetime import UTC, datetime

from overlay.core.errors import WaxwingError, describe_os_error
from overlay.plugins import register_systems
from telemetry.sweep.batch import CANCELLED, COLLECTING, DONE, FAILED, Batch, Told
from telemetry.sweep.simulation import Result, simulate_run

LOOK_S = 0.25
"""Interval for reporting progress and checking for a request to stop."""
MAX_ATTEMPTS = 2
"""Maximum attempts. A run that kills its process repeatedly, for example by its memory, would do so again."""


def perform(batch: Batch, run: str) -> Told:
    """Execute ``run`` and report its result."""
    attempts = batch.told(run).attempts + 1
    if batch.is_to_stop(run):
        told = Told(CANCELLED, attempts=attempts)
    elif attempts > MAX_ATTEMPTS:
        told = Told(FAILED, reason=f"The process that simulated it died {MAX_ATTEMPTS} times.", attempts=attempts)
    else:
        told = _performed(batch, run, attempts)
    batch.tell(run, told)
    return told


def _performed(batch: Batch, run: str, attempts: int) -> Told:
    try:
        register_systems(os.environ)  # in any process
        watch = _Watch(batch, run, attempts)
        result = simulate_run(batch.order(run), batch.places, datetime.now(UTC), watch.tell, watch.should_stop)
    except WaxwingError as error:
        return Told(FAILED, reason=str(error), attempts=attempts)
    except OSError as error:
        return Told(FAILED, reason=describe_os_error(error), attempts=attempts)
    except Exception as error:  # noqa: BLE001  a bug that one configuration meets is no reason to end the others
        where = "".join(traceback.format_exception(error)[-2:])
        return Told(FAILED, reason=f"It could not be simulated: {error!r}. {where}", attempts=attempts)
    return Told(*_end(result), attempts=attempts, result=asdict(result))


def _end(result: Result) -> tuple[str, float, str]:
    if result.was_stopped:
        return CANCELLED, 0.0, ""
    if result.differs_from:
        sentence = (
            f"Simulating it again gave another digest: {result.digest} instead of {result.differs_from}. "
            "Equal configuration, seed and code must give equal runs; this is a bug."
        )
        return FAILED, 1.0, sentence
    return DONE, 1.0, ""


class _Watch:
    """Reports the progress of a simulation and checks for a request to stop, rarely enough to be free."""

    def __init__(self, batch: Batch, run: str, attempts: int) -> None:
        self._batch, self._run, self._attempts = batch, run, attempts
        self._told_at = self._asked_at = 0.0
        self._stop = False

    def tell(self, state: str, share: float) -> None:
        now = time.monotonic()
        if now - self._told_at > LOOK_S or state == COLLECTING:
            self._told_at = now
            self._batch.tell(self._run, Told(state, share, attempts=self._attempts))

    def should_stop(self) -> bool:
        now = time.monotonic()
        if now - self._asked_at > LOOK_S:
            self._asked_at = now
            self._stop = self._batch.is_to_stop(self._run)
        return self._stop
