"""Computes one report: Spark in its own process group, with a time limit, checked for cancellation each second."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from brokerweb.kit.disk import full_disk_message, no_room
from brokerweb.kit.process_groups import ending, guarded
from brokerweb.reports import queue, services
from brokerweb.reports.models import Report, ReportState
from telemetry.reports.progress import ERROR, PROGRESS, last_told

log = logging.getLogger(__name__)

LOOK_S = 0.2
HEARTBEAT_S = 1.0
LOG_TAIL_BYTES = 16_000
"""Size of the log's end read for the last message."""


def compute(report_id: str) -> None:
    """Compute a report if it is due. Idempotent."""
    report = queue.begin(report_id)
    if report is None:
        return
    try:
        result = _run(report)
        _end(report, ReportState.DONE, result=result, html_path=str(services.directory(report) / "report.html"))
    except _BrokenOff as broken_off:
        queue.give_back(report, str(broken_off))
    except _Ended as ended:
        _end(report, ReportState.FAILED, reason=str(ended))
    except Exception as error:
        log.exception("report %s", report_id)
        _end(report, ReportState.FAILED, reason=full_disk_message(error) or f"The report could not be created: {error}")


class _Ended(Exception):
    """The report failed; the message gives the reason."""


class _BrokenOff(Exception):
    """This attempt failed, but a later one may succeed."""


def _end(report: Report, state: str, **fields: object) -> None:
    queue.attempt(report).update(state=state, progress="", ended_at=timezone.now(), **fields)


def _run(report: Report) -> dict:
    runs = services.chosen(report)
    if not runs:
        raise _Ended("There is nothing to compare: none of its runs is done and has samples.")
    out = services.directory(report)
    out.mkdir(parents=True, exist_ok=True)
    chosen = out / "runs.json"
    chosen.write_text(json.dumps(runs))
    command = [sys.executable, "-m", "telemetry", "report", "--kind", report.kind, "--runs", str(chosen)]
    command += ["--lake", str(settings.LAKE), "--out", str(out), "--var", str(settings.VAR)]
    command += [f"--title={services.title(report)}"]  # as one argument, because a name may begin like an option
    with _log(report).open("wb") as output:
        _watch(report, command, output.fileno())
    return json.loads((out / "result.json").read_text())


def _watch(report: Report, command: list[str], output: int) -> None:
    with guarded(command, output) as job:
        _wait(report, job)
    if job.returncode:
        log = _end_of_log(report)
        words = last_told(log, ERROR) or log.strip().rpartition("\n")[2]
        raise _Ended(words or no_room() or f"Spark exited with code {job.returncode} without a message.")


def _wait(report: Report, job: subprocess.Popen) -> None:
    deadline = time.monotonic() + settings.REPORT_TIMEOUT_SECONDS
    beat_at = 0.0
    while True:
        with suppress(subprocess.TimeoutExpired):
            job.wait(timeout=LOOK_S)
            return
        if ending.is_set():
            raise _BrokenOff("The Spark worker was stopped")
        if time.monotonic() > deadline:
            raise _Ended(f"Spark was stopped after the limit of {settings.REPORT_TIMEOUT_SECONDS // 60} minutes.")
        if time.monotonic() > beat_at:
            beat_at = time.monotonic() + HEARTBEAT_S
            _beat(report)


def _beat(report: Report) -> None:
    """Publish the progress; raises ``_Ended`` if the report was cancelled."""
    progress = last_told(_end_of_log(report), PROGRESS)[:300]
    mine = queue.attempt(report)
    if not mine.update(heartbeat=timezone.now(), progress=progress):
        raise _Ended("Another attempt was started.")
    if mine.filter(cancel_requested=True).exists():
        raise _Ended("Cancelled.")


def _log(report: Report) -> Path:
    return services.directory(report) / "log.txt"


def _end_of_log(report: Report) -> str:
    with _log(report).open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
        return file.read().decode(errors="replace")
