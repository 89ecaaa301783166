"""Schedules the computation of reports: one at a time, and not during a measurement unless requested.

A report is a row; its task is queued here until one starts, so a lost queue loses nothing.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.experiments.states import ACTIVE, UNFINISHED
from brokerweb.kit import outbox
from brokerweb.reports.models import Report, ReportState

COMPUTE = "brokerweb.reports.tasks.run_report"
ASK_AGAIN = timedelta(seconds=10)
HEAD_START = timedelta(seconds=5)
"""Time that runs wait for a report that was just queued, so that a full run queue cannot starve reports."""
LOST_AFTER = timedelta(seconds=15)
MAX_ATTEMPTS = 3
"""A report whose Spark worker died this often, perhaps for lack of memory, would probably kill the next one, too."""


def computing() -> Report | None:
    """The report being computed that runs must wait for."""
    alive = timezone.now() - LOST_AFTER
    running = Report.objects.filter(state=ReportState.RUNNING, heartbeat__gte=alive, while_measuring=False)
    return running.first()


def in_the_way() -> str:
    """What a run waits for, as a phrase; empty if no report is being computed."""
    report = computing()
    return f"behind report {report.pk}" if report else ""


def holds_up_runs() -> bool:
    """Whether a run started now would overlap with a report."""
    asked = Report.objects.filter(
        state=ReportState.QUEUED, while_measuring=False, asks=1, asked_at__gte=timezone.now() - HEAD_START
    )
    return computing() is not None or asked.exists()


def ask_due() -> None:
    """Create reports of finished experiments, recover lost ones, and queue the next one."""
    _make_due()
    _take_up_lost()
    report = Report.objects.filter(state=ReportState.QUEUED).order_by("created").first()
    if report is None:
        return
    if waits := waits_for(report):
        Report.objects.filter(pk=report.pk, state=ReportState.QUEUED).exclude(progress=waits).update(progress=waits)
        return
    silent = "" if report.asks < 3 else "No Spark worker has answered yet. Is make up running?"
    row = Report.objects.filter(pk=report.pk)
    outbox.ask(row, report.asked_at, COMPUTE, report.pk, again=ASK_AGAIN, asks=F("asks") + 1, progress=silent)


def waits_for(report: Report) -> str:
    """The reason why ``report`` cannot be computed now."""
    other = Report.objects.filter(state=ReportState.RUNNING).exclude(pk=report.pk).first()
    if other:
        return f"Waiting for report {other.pk} to end."
    if Run.simulating().exists():
        return "Waiting for simulated runs to end: they use all cores."
    active = None if report.while_measuring else Run.objects.filter(state__in=ACTIVE).first()
    return f"Waiting for run {active.pk} to end: a report would disturb its measurement." if active else ""


def begin(report_id: str) -> Report | None:
    """Claim the report; ``None`` if it cannot be computed now."""
    with transaction.atomic():
        report = Report.objects.filter(pk=report_id, state=ReportState.QUEUED).first()
        if report is None or waits_for(report):
            return None
        now = timezone.now()
        Report.objects.filter(pk=report_id).update(
            state=ReportState.RUNNING, started_at=now, heartbeat=now, progress="", attempts=F("attempts") + 1
        )
    report.refresh_from_db()
    return report


def give_back(report: Report, reason: str) -> bool:
    """Queue an interrupted report again; returns whether this attempt was still the current one."""
    again = {"state": ReportState.QUEUED, "progress": f"{reason}; it is computed again.", "asked_at": None, "asks": 0}
    return bool(attempt(report).update(**again))


def attempt(report: Report) -> QuerySet[Report]:
    """The row of a report, conditional on the current attempt."""
    return Report.objects.filter(pk=report.pk, state=ReportState.RUNNING, attempts=report.attempts)


def _take_up_lost() -> None:
    reason = "The Spark worker that computed it exited"
    for report in Report.objects.filter(state=ReportState.RUNNING, heartbeat__lt=timezone.now() - LOST_AFTER):
        if report.attempts < MAX_ATTEMPTS:
            give_back(report, reason)
            continue
        sentence = f"{reason}, {MAX_ATTEMPTS} times; see its log.txt."
        attempt(report).update(state=ReportState.FAILED, progress="", reason=sentence, ended_at=timezone.now())


def _make_due() -> None:
    """Create a comparison for each experiment that requests one and whose runs have all ended, at least one in state
    done.
    """
    from brokerweb.reports import services

    wanting = Experiment.objects.filter(report_when_done=True, reports__isnull=True, runs__state=RunState.DONE)
    for experiment in wanting.exclude(runs__state__in=UNFINISHED).distinct():
        with transaction.atomic():  # IMMEDIATE: another thread may be about to do the same
            if not experiment.reports.exists():
                services.create(kind="comparison", experiments=[experiment], owner=experiment.owner)
