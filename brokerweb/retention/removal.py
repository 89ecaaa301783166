"""Deletes expired files. A run's row is marked before its files are deleted, so that no page links to missing files.

Each turn has a bounded amount of work; the next turn continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from brokerweb.changelog import services as changes
from brokerweb.experiments.deletion_guards import is_needed
from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ACTIVE, ENDED, UNFINISHED, note
from brokerweb.operationlog import storing as operations
from brokerweb.reports.models import BEING_MADE, Report
from brokerweb.storage import files
from brokerweb.storage.eviction import Item, choose
from brokerweb.storage.models import Footprint, Gauge, Policy, Removal
from overlay.core.engines import LIVE, SIMULATED

A_TURN = 100
"""Items deleted, and runs measured, per turn."""
WEIGH_AGAIN = timedelta(minutes=10)
WEIGH_AT_LAST = timedelta(hours=1)
"""After this time, disk usage is measured even during a run, which disturbs it a little."""
CONSIDERED = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The items that a policy deletes."""

    items: Sequence[Item]

    def count(self, kind: str) -> int:
        return sum(item.kind == kind for item in self.items)

    @property
    def runs(self) -> int:
        return self.count("run")

    @property
    def simulated(self) -> int:
        return self.count("simulated")

    @property
    def reports(self) -> int:
        return self.count("report")

    @property
    def bytes(self) -> int:
        return sum(item.bytes for item in self.items)


def removable() -> QuerySet[Run]:
    """Ended runs whose files may be deleted: not kept, and not needed by a report or another run."""
    awaited = Run.objects.filter(Q(compared_with=OuterRef("pk")) | Q(rerun_of=OuterRef("pk")), state__in=UNFINISHED)
    ended = Run.objects.filter(state__in=ENDED, kept=False, files_removed=None, ended_at__isnull=False)
    return ended.exclude(is_needed()).exclude(Exists(awaited))


def plan(policy: Policy, now: datetime) -> Plan:
    """The items that ``policy`` deletes at ``now``, in order. Deletes nothing."""
    items = [
        *_runs(),
        *(_simulated() if policy.include_simulated else []),
        *(_reports() if policy.include_reports else []),
    ]
    pinned = runs_bytes() - sum(item.bytes for item in items if item.kind == "run")
    limits = {"max_days": policy.max_days, "max_bytes": policy.max_bytes}
    return Plan(choose(items, now, **limits, pinned_bytes=max(0, pinned)))


def _runs() -> list[Item]:
    rows = removable().filter(footprint__total_bytes__gt=0).order_by("ended_at")
    found = rows.values_list("pk", "footprint__total_bytes", "ended_at")[:CONSIDERED]
    return [Item("run", pk, total, ended) for pk, total, ended in found if ended]


def _simulated() -> list[Item]:
    """Empty while a simulated run is queued or active: it may be about to use a cached result."""
    return [] if _is_simulating() else files.kept_simulations()


def _is_simulating() -> bool:
    return Run.objects.filter(engine=SIMULATED, state__in=UNFINISHED).exists()


def _reports() -> list[Item]:
    rows = Report.objects.exclude(state__in=BEING_MADE).filter(ended_at__isnull=False).exclude(html_path="")
    found = rows.order_by("ended_at").values_list("pk", "ended_at")[:CONSIDERED]
    weighed = [(pk, files.weigh(Path(settings.REPORTS) / pk), ended) for pk, ended in found if ended]
    return [Item("report", pk, total, ended) for pk, total, ended in weighed if total]


def runs_bytes() -> int:
    """Total size of all measured ended runs."""
    return Footprint.objects.aggregate(total=Sum("total_bytes"))["total"] or 0


def apply(policy: Policy, now: datetime, by: User | None = None) -> Plan:
    """Delete the first items of the policy's plan; returns the deleted ones."""
    gone = [item for item in plan(policy, now).items[:A_TURN] if _remove(item, now)]
    done = Plan(gone)
    if gone:
        Removal.objects.create(runs=done.runs, simulated=done.simulated, reports=done.reports, bytes=done.bytes, by=by)
        gauge(now, force=True)
    return done


def _remove(item: Item, now: datetime) -> bool:
    if item.kind == "simulated":
        with transaction.atomic():  # IMMEDIATE: no run is launched in between
            if _is_simulating():
                return False
            files.set_aside(item.key)
        files.remove_set_aside()
        return True
    if item.kind == "report":
        files.remove_report(item.key)
        Report.objects.filter(pk=item.key).update(html_path="")
        return True
    with transaction.atomic():  # IMMEDIATE: no report is requested in between
        run = removable().filter(pk=item.key).first()
        if run is None:
            return False
        Run.objects.filter(pk=run.pk).update(files_removed=now)
        Footprint.objects.filter(pk=run.pk).update(removing=True)
        note(run, "files removed", "By retention: samples, journals, traces and messages. The summary is kept.")
    _finish(run.pk)
    return True


def _finish(run: str) -> None:
    files.remove_run(run)
    journal, lake = files.weigh_run(run)
    Footprint.objects.filter(pk=run).update(journal_bytes=journal, lake_bytes=lake, removing=False)


def weigh_runs() -> int:
    """Measure the disk usage of ended runs not measured yet; returns their number."""
    rows = Run.objects.filter(state__in=ENDED, footprint=None).order_by("ended_at").values_list("pk", flat=True)
    weighed = []
    for run in rows[:A_TURN]:
        journal, lake = files.weigh_run(run)
        weighed.append(Footprint(run_id=run, journal_bytes=journal, lake_bytes=lake))
    Footprint.objects.bulk_create(weighed, ignore_conflicts=True)
    return len(weighed)


def gauge(now: datetime, *, force: bool = False) -> Gauge:
    """Measure the rest of ``var/`` every ten minutes, unless that would disturb a run."""
    kept = Gauge.objects.filter(pk=Gauge.ONLY).first()
    age = now - kept.at if kept else WEIGH_AT_LAST
    is_due = age >= WEIGH_AGAIN and (age >= WEIGH_AT_LAST or not _is_measuring())
    if kept and not force and not is_due:
        return kept
    weights = {
        "reports": files.weigh_reports(),
        "simulated": sum(item.bytes for item in files.kept_simulations()),
        "database": files.weigh_database(),
        "logs": files.weigh_logs(),
        "at": now,
    }
    return Gauge.objects.update_or_create(pk=Gauge.ONLY, defaults=weights)[0]


def _is_measuring() -> bool:
    return Run.objects.filter(engine=LIVE, state__in=ACTIVE).exists()


def turn(now: datetime | None = None) -> Plan:
    """Called every minute."""
    now = now or timezone.now()
    files.remove_set_aside()  # rest of an interrupted turn
    weigh_runs()
    gauge(now)
    for run in Footprint.objects.filter(removing=True).values_list("pk", flat=True)[:A_TURN]:
        _finish(run)
    policy = Policy.objects.filter(pk=Policy.ONLY).first()
    limits = policy or Policy()
    changes.thin(now - timedelta(days=limits.change_days), limits.most_changes)
    operations.thin(now)
    return apply(policy, now) if policy and policy.is_on else Plan([])
