"""Runs a batch of simulated runs in its own process group, and updates their rows from its reports."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from brokerweb.experiments import pause, states
from brokerweb.experiments.evaluation import measured
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.services import seed_of
from brokerweb.kit.disk import no_room
from brokerweb.kit.process_groups import ending, guarded
from brokerweb.simulations import queue
from overlay.core.errors import describe_os_error
from overlay.journal.facts import Start
from overlay.journal.journal import read_journal
from overlay.systems.registry import SYSTEMS
from telemetry.lake.runs import Lake, RunFiles, read_manifest
from telemetry.reports.progress import ERROR, last_told
from telemetry.summary.processes import Servers
from telemetry.sweep.batch import CANCELLED, COLLECTING, DONE, ENDED, FAILED, MEASURING, Batch, Told
from telemetry.sweep.processes import PLAIN
from telemetry.sweep.simulation import Order, Places

log = logging.getLogger(__name__)

LOOK_S = 0.2
HEARTBEAT_S = 1.0
STALLED_S = 300.0
"""A batch without reports for this long is stuck."""
SIMULATED_SHARE = 0.95
"""Share of a run's progress; the rest is collecting."""
KEPT = "Cancelled. Data simulated until then is kept."


def compute() -> None:
    """Compute the next batch, if one is due."""
    owner = f"{settings.HOST_NAME}:{os.getpid()}:{time.monotonic_ns()}"
    runs = queue.begin(owner)
    if not runs:
        return
    try:
        job = _Job(owner, runs)
    except OSError as error:  # the batch's description could not be written
        for run in runs:
            queue.give_back(run, describe_os_error(error).rstrip("."), has_begun=False)
        return
    job.carry_out()


class _BrokenOff(Exception):
    """The batch failed, but a later one may succeed."""


class _NeverBegan(_BrokenOff):
    """It exited before starting any run, for example without Java; the next one would probably do the same."""


class _Job:
    """One batch, from its claim until all runs have ended or are queued again."""

    def __init__(self, owner: str, runs: Sequence[Run]) -> None:
        self._owner = owner
        self._rows = {run.pk: run for run in runs}
        self._left = set(self._rows)
        self._seen: dict[str, int] = {}
        directory = Path(settings.VAR) / "simulations" / f"{runs[0].pk}-{runs[0].lease_epoch}"
        shutil.rmtree(directory.parent, ignore_errors=True)  # leftovers of a killed worker
        orders = [_order(run) for run in runs]
        places = Places(Path(settings.RUNS), Path(settings.LAKE), Path(settings.VAR))
        self._batch = Batch.write(directory, places, orders, [run.estimated_s for run in runs])

    def carry_out(self) -> None:
        reason, has_begun = "The simulation ended before the run", True
        try:
            self._watch()
        except _BrokenOff as broken_off:
            reason, has_begun = str(broken_off), not isinstance(broken_off, _NeverBegan)
        except Exception:
            log.exception("a batch of %d simulated runs", len(self._rows))
            reason = "The simulation failed; see the worker's log"
        finally:
            for run in Run.objects.filter(pk__in=self._left, lease_owner=self._owner):
                queue.give_back(run, reason, has_begun=has_begun)
            shutil.rmtree(self._batch.directory, ignore_errors=True)

    def _watch(self) -> None:
        command = [sys.executable, "-m", "telemetry", "simulate-batch", str(self._batch.directory)]
        command += ["--var", str(settings.VAR), *(["--spark"] if len(self._rows) > PLAIN else [])]
        words = self._batch.directory / "log.txt"
        with words.open("wb") as output, guarded(command, output.fileno()) as job:
            self._wait(job)
        if self._left:
            text = words.read_text(errors="replace")
            log.warning("simulate-batch ended with code %s: %s", job.returncode, text[-4_000:])
            kind = _BrokenOff if self._seen else _NeverBegan
            raise kind((last_told(text, ERROR) or no_room()).rstrip(".") or "The simulation ended before the run")

    def _wait(self, job: subprocess.Popen[bytes]) -> None:
        beat_at = 0.0
        heard_at = time.monotonic()
        is_running = True
        while is_running and self._left:
            with suppress(subprocess.TimeoutExpired):
                job.wait(timeout=LOOK_S)
                is_running = False
            if ending.is_set():
                raise _BrokenOff("The worker was stopped")
            if self._follow():
                heard_at = time.monotonic()
            if time.monotonic() - heard_at > STALLED_S:
                raise _BrokenOff(f"The simulation sent no reports for {STALLED_S / 60:.0f} min")
            if time.monotonic() > beat_at:
                beat_at = time.monotonic() + HEARTBEAT_S
                self._beat()

    def _beat(self) -> None:
        """Renew the lease, and forward cancellations."""
        queue.renew(self._owner, self._left)
        still_mine = Run.objects.filter(pk__in=self._left, lease_owner=self._owner, cancel_requested=False)
        # While the queue is paused, started runs continue and the rest waits.
        wanted_in = states.ACTIVE if pause.current() else states.UNFINISHED
        wanted = set(still_mine.filter(state__in=wanted_in).values_list("pk", flat=True))
        for run in self._left - wanted:
            self._batch.stop(run)

    def _follow(self) -> bool:
        """Update rows from reports; returns whether there were any."""
        news = self._batch.news(self._seen)
        for run, told in news:
            if run in self._left:
                self._move(self._rows[run], told)
        return bool(news)

    def _move(self, run: Run, told: Told) -> None:
        if told.state in ENDED:
            self._left.discard(run.pk)
            if told.state == DONE:  # a short run may be reported only once, at its end
                self._advance(run, RunState.COLLECTING)
            self._end(run, told)
        elif told.state == MEASURING:
            self._advance(run, RunState.MEASURING)
            progress = round(SIMULATED_SHARE * told.share, 4)
            Run.objects.filter(pk=run.pk, lease_epoch=run.lease_epoch).update(progress=progress)
        elif told.state == COLLECTING:
            self._advance(run, RunState.COLLECTING)

    def _end(self, run: Run, told: Told) -> None:
        observed = {"simulation": dict(told.result), "brokers": _brokers(run)}
        if told.state == FAILED:
            self._advance(run, RunState.FAILED, told.reason, observed=observed)
        elif told.state == DONE:
            with transaction.atomic():  # thresholds must not change until the row has the verdict
                to, reason = (RunState.CANCELLED, KEPT) if _is_cancelled(run) else (RunState.DONE, "")
                self._advance(run, to, reason, **_measured(run, is_done=to == RunState.DONE), observed=observed)
        elif told.state == CANCELLED and not _is_cancelled(run):
            queue.give_back(run, "The queue was paused")
        elif told.state == CANCELLED and told.result:
            self._advance(run, RunState.CANCELLED, KEPT, **_measured(run, is_done=False), observed=observed)
        elif told.state == CANCELLED:
            self._advance(run, RunState.CANCELLED, "Cancelled before it started.")

    @staticmethod
    def _advance(run: Run, to: str, reason: str = "", **fields: Any) -> None:
        """Move a row to ``to`` through intermediate states, unless another process moved it."""
        order = (RunState.QUEUED, RunState.LAUNCHING, RunState.MEASURING, RunState.COLLECTING, RunState.DONE)
        now = timezone.now()
        begun: dict[str, dict[str, Any]] = {
            RunState.LAUNCHING: {"launched_at": now},
            RunState.MEASURING: {"measuring_at": now},
        }
        if to in order:
            for state in order[order.index(RunState(run.state)) + 1 : order.index(RunState(to))]:
                if not states.move(run, state, **begun.get(state, {})):
                    return
        if run.state != to:
            states.move(run, to, reason, **{**begun.get(to, {}), **fields})


def _order(run: Run) -> Order:
    """Reruns are not taken from the cache, to verify their digest."""
    return Order(
        run.pk,
        run.configuration,
        seed_of(run),
        run.replicate,
        run.experiment_id,
        again=run.rerun_of_id is not None,
        repeats=_came_to(run.rerun_of) if run.rerun_of else {},
    )


def _is_cancelled(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, cancel_requested=True).exists()


def _came_to(original: Run) -> dict[str, str]:
    """Known results of the run that is repeated, even if its files were deleted."""
    known = original.observed.get("simulation") or {}
    is_whole = original.state == RunState.DONE and not known.get("was_stopped")
    result = {name: known.get(name, "") if is_whole else "" for name in ("key", "digest")}
    return {"run": original.pk, **result}


def _brokers(run: Run) -> list[dict[str, Any]]:
    """Broker addresses in events and traces, in the format of a supervisor's report."""
    found: dict[int, dict[str, Any]] = {}
    servers = Servers.of(run.configuration, SYSTEMS[run.configuration["system"]])
    for path in RunFiles(Path(settings.RUNS) / run.pk).journals():
        for fact in read_journal(path):
            if isinstance(fact, Start) and (index := servers.index(fact.process)) is not None:
                row = {"index": index, "name": fact.process, "address": fact.address}
                found.setdefault(index, {**row, "state": "stopped", "restarts": 0, "reason": ""})
                if len(found) == len(servers):
                    break  # brokers start first, among other events; the rest may be long
    return [found[index] for index in sorted(found)]


def _measured(run: Run, *, is_done: bool) -> dict[str, Any]:
    """Fields of the row from the collected run."""
    manifest: Mapping[str, Any] = read_manifest(Lake(Path(settings.LAKE)).manifest_path(run.pk))
    return measured(run, manifest.get("summary") or {}, is_done=is_done)
