"""Use cases of reports, called by pages, REST, the admin and tasks."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from brokerweb.changelog.recording import CREATE, DELETE, logged, recorded, subject
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.ids import in_chunks
from brokerweb.reports.models import BEING_MADE, ENDED, Report, ReportKind, ReportState, Schedule
from overlay.core.errors import InvalidSetting, shown
from overlay.experiment.whatif import in_words


def _state(report: Report) -> dict[str, Any]:
    experiments = sorted(one.pk for one in report.experiments.all())
    cancelled = report.cancel_requested or report.reason == CANCELLED
    runs = report.runs.count()
    return {"kind": report.kind, "experiments": experiments, "runs": runs, "cancelled": cancelled}


CANCELLED = "Cancelled."
subject(Report, "report", state=_state)


@logged(CREATE, by="owner")
def create(
    *,
    kind: str = ReportKind.COMPARISON,
    runs: Sequence[Run] = (),
    experiments: Sequence[Experiment] = (),
    owner: User | None = None,
    schedule: Schedule | None = None,
    while_measuring: bool = False,
) -> Report:
    """Create a report over ``runs`` and the finished runs of ``experiments``. Raises ``InvalidSetting``."""
    if kind not in ReportKind.values:
        raise InvalidSetting("kind", f"must be one of {', '.join(ReportKind.values)}, not {shown(kind, 40)}")
    if not runs and not experiments:
        raise InvalidSetting("runs", "a report needs runs or experiments")
    others = [f"{run.id} is {run.state}" for run in runs if run.state != RunState.DONE]
    if others:
        raise InvalidSetting("runs", f"only finished runs can be compared; {', '.join(others[:5])}")
    without = [run.id for run in runs if run.files_removed]
    if without:
        raise InvalidSetting("runs", f"retention deleted the samples of {', '.join(without[:5])}")
    report = Report.objects.create(
        kind=kind,
        owner=owner,
        schedule=schedule,
        while_measuring=while_measuring,
    )
    report.runs.set(runs)
    report.experiments.set(experiments)
    return report


def light_runs() -> QuerySet[Run]:
    """Runs with the columns that ``create`` needs; a configuration may have half a million links."""
    return Run.objects.only("id", "state", "files_removed")


def is_being_made() -> Exists:
    """A condition on ``Run``: needed by a queued or running report."""
    unfinished = Report.objects.filter(state__in=BEING_MADE)
    return Exists(unfinished.filter(Q(runs=OuterRef("pk")) | Q(experiments=OuterRef("experiment"))))


def own_runs(reports: Iterable[Report]) -> dict[str, list[str]]:
    """Ids of individually selected runs, by report id."""
    found: dict[str, list[str]] = {report.pk: [] for report in reports}
    for report, run in Report.runs.through.objects.filter(report__in=found).values_list("report_id", "run_id"):
        found[report].append(run)
    return found


def run_ids(report: Report) -> list[str]:
    """Current runs of the report: its own, and finished runs of its experiments without what-if runs.

    Runs whose samples were deleted are omitted.
    """
    whole = {"state": RunState.DONE, "files_removed": None}
    own = report.runs.filter(**whole).values_list("pk", flat=True)
    of_experiments = Run.objects.unchanged().filter(experiment__reports=report, **whole).values_list("pk", flat=True)
    return sorted({*own, *of_experiments})


def chosen(report: Report) -> list[dict[str, str]]:
    """The same as ``telemetry.lake.configurations.choose`` takes them: what-if runs with what was changed."""
    changed = dict(changed_runs(report).values_list("pk", "change"))
    ids = run_ids(report)
    studied = _studied(ids)
    return [
        {"run": run, **({"changed": in_words(changed[run])} if run in changed else studied.get(run, {}))} for run in ids
    ]


def _studied(ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Of the runs that a study launched, which and at which scale."""
    found: dict[str, dict[str, str]] = {}
    for chunk in in_chunks(ids):
        rows = Run.objects.filter(pk__in=chunk).exclude(experiment__study="").order_by()
        named = rows.values_list("pk", "experiment__study", "experiment__scale")
        found.update({run: {"study": study, "scale": scale} for run, study, scale in named})
    return found


def changed_runs(report: Report) -> QuerySet[Run]:
    """The what-if runs that it is about: they were chosen one by one, since those of experiments are left out."""
    return Run.objects.changed().filter(reports=report)


def title(report: Report) -> str:
    """The title of a report."""
    names = [experiment.name for experiment in report.experiments.all()[:3]]
    return "; ".join(names) or f"Comparison of {report.runs.count()} runs"


@logged("cancel")
def cancel(report: Report) -> Report:
    """Cancel a report. Raises ``NotPossible`` if it has ended."""
    queued = Report.objects.filter(pk=report.pk, state=ReportState.QUEUED)
    if queued.update(state=ReportState.FAILED, reason=CANCELLED, progress="", ended_at=timezone.now()):
        report.refresh_from_db()
        return report
    if not Report.objects.filter(pk=report.pk, state=ReportState.RUNNING).update(cancel_requested=True):
        report.refresh_from_db()
        raise NotPossible(f"This report is already {report.state}.")
    report.refresh_from_db()
    return report


def delete(report: Report) -> None:
    """Delete a report and its files. Its runs are kept. Raises ``NotPossible`` until it has ended."""
    ended = Report.objects.filter(pk=report.pk, state__in=ENDED)
    with recorded(DELETE, report):
        if not ended.delete()[0] and Report.objects.filter(pk=report.pk).exists():
            raise NotPossible("This report is not finished. Cancel it first.")
    shutil.rmtree(directory(report), ignore_errors=True)  # rows first: files without a row are harmless


def directory(report: Report) -> Path:
    """The directory of its files."""
    return Path(settings.REPORTS) / report.pk


def html_file(report: Report) -> Path | None:
    """The self-contained HTML file, if it exists."""
    path = directory(report) / "report.html"
    return path if report.state == ReportState.DONE and path.is_file() else None
