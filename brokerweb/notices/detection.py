"""Detects events from rows and creates notices, once for each interested target.

Rows are read every few seconds, so code that changes them need not know of notifications, and events during a Redis
outage are not missed. A unique key prevents duplicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q

from brokerweb.alarms.models import AlarmEvent
from brokerweb.alarms.rules import State
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.states import ENDED, UNFINISHED
from brokerweb.kit.disk import disk
from brokerweb.networks.models import Network, NetworkState
from brokerweb.notices.models import Delivery, DeliveryState, Notice, NoticeKind, Target
from brokerweb.reports.models import Report, ReportState
from overlay.experiment.whatif import in_words
from telemetry.formatting import percent, size

LOOK_BACK = timedelta(minutes=15)
"""Maximum age of reported events."""
READ = 500
"""Maximum number of rows read per kind."""
SPELL_S = 600
"""Of several failures of one experiment within this time, only the first is reported; the notice of its end counts
them. The same applies to a network with unstable brokers.
"""
KEEP_DAYS = 30


@dataclass(frozen=True)
class Seen:
    """A detected event."""

    key: str
    kind: NoticeKind
    at: datetime
    title: str
    text: str
    path: str
    facts: dict[str, Any] = field(default_factory=dict)


def look(now: datetime) -> int:
    """Create notices of recent events for every interested target; returns their number."""
    targets = list(Target.objects.filter(enabled=True))
    if not targets:
        return 0
    wanted = {kind for target in targets for kind in target.kinds}
    since = max(now - LOOK_BACK, min(target.since for target in targets))
    seen = {one.key: one for kind in sorted(wanted & LOOKS.keys()) for one in LOOKS[kind](since, now)}
    known = set(Notice.objects.filter(key__in=seen).values_list("key", flat=True))
    news = [one for key, one in seen.items() if key not in known]
    return sum(_write(one, targets) for one in news)


@transaction.atomic
def _write(seen: Seen, targets: Sequence[Target]) -> int:
    """Create a notice, unless it exists, and its deliveries, in one transaction."""
    facts = {"title": seen.title[:300], "text": seen.text, "path": seen.path, "facts": seen.facts, "at": seen.at}
    notice, is_new = Notice.objects.get_or_create(key=seen.key, defaults={"kind": seen.kind, **facts})
    if not is_new:
        return 0
    there = set(Target.objects.filter(enabled=True).values_list("pk", flat=True))  # some may have been deleted
    wanted = [target for target in targets if target.pk in there and seen.kind in target.kinds]
    told = [target for target in wanted if target.since <= seen.at]
    Delivery.objects.bulk_create(Delivery(target=target, notice=notice) for target in told)
    return len(told)


def forget(now: datetime) -> None:
    """Delete notices older than a month with their deliveries."""
    old = Notice.objects.filter(at__lt=now - timedelta(days=KEEP_DAYS))
    old.exclude(deliveries__state=DeliveryState.WAITING).delete()


def _ended(since: datetime, **more: Any) -> Iterator[Run]:
    runs = Run.objects.filter(ended_at__gte=since, **more).select_related("experiment")
    return iter(
        runs.order_by("ended_at").defer("configuration", "summary", "observed", "experiment__definition")[:READ]
    )


def _spell(run: Run, word: str) -> str:
    assert run.ended_at is not None
    return f"{word}:{run.experiment_id}:{_spell_of(run.ended_at)}"


def _spell_of(moment: datetime) -> int:
    return int(moment.timestamp()) // SPELL_S


def _name(run: Run) -> str:
    what_if = f", what if {in_words(run.change)}," if run.change else ""
    return f"Run {run.position + 1} of {run.experiment.name}{what_if}"


def _failed_runs(since: datetime, now: datetime) -> Iterator[Seen]:
    told: set[str] = set()
    for run in _ended(since, state=RunState.FAILED):
        key = _spell(run, "failed")
        if key not in told and run.ended_at:
            told.add(key)
            facts = {"run": run.pk, "experiment": run.experiment_id, "reason": run.reason}
            reason = run.reason or "No reason given."
            title = f"{_name(run)} failed"
            yield Seen(key, NoticeKind.RUN_FAILED, run.ended_at, title, reason, f"/runs/{run.pk}/", facts)


def _broken_thresholds(since: datetime, now: datetime) -> Iterator[Seen]:
    told: set[str] = set()
    for run in _ended(since, passed=False):
        key = _spell(run, "thresholds")
        if key not in told and run.ended_at:
            told.add(key)
            broken = [one for one in run.thresholds if not one.get("held")]
            facts = {"run": run.pk, "experiment": run.experiment_id, "broken": [one.get("text", "") for one in broken]}
            title = f"{_name(run)} broke its thresholds"
            said = [
                f"{one.get('text', '')} ({one['why']})" if one.get("why") else one.get("text", "") for one in broken
            ]
            text = f"Thresholds broken: {'; '.join(said)}."
            yield Seen(key, NoticeKind.THRESHOLDS_BROKEN, run.ended_at, title, text, f"/runs/{run.pk}/", facts)


def _finished_experiments(since: datetime, now: datetime) -> Iterator[Seen]:
    own = Run.objects.unchanged()
    lately = own.filter(ended_at__gte=since).order_by().values_list("experiment", flat=True).distinct()[:READ]
    of_them = own.filter(experiment__in=list(lately)).order_by().values("experiment", "experiment__name")
    found: Any = of_them.annotate(
        left=Count("pk", filter=Q(state__in=UNFINISHED)),
        broken=Count("pk", filter=Q(passed=False)),
        ended=Max("ended_at"),
        **{f"in_{state}": Count("pk", filter=Q(state=state)) for state in ENDED},
    )
    for row in found.filter(left=0, ended__gte=since):
        experiment, broken = row["experiment"], row["broken"]
        key = f"finished:{experiment}:{row['ended']:%Y%m%d%H%M%S%f}"
        counts = {str(state): count for state in ENDED if (count := row[f"in_{state}"])}
        words = ", ".join(f"{count} {state}" for state, count in counts.items())
        text = f"Its runs have ended: {words}.{f' {broken} broke their thresholds.' if broken else ''}"
        facts = {"experiment": experiment, "runs": counts, "thresholds_broken": broken}
        title = f"{row['experiment__name']} has finished"
        path = f"/experiments/{experiment}/"
        yield Seen(key, NoticeKind.EXPERIMENT_FINISHED, row["ended"], title, text, path, facts)


def _reports(since: datetime, state: str, kind: NoticeKind, words: str) -> Iterator[Seen]:
    rows = Report.objects.filter(ended_at__gte=since, state=state).defer("result").prefetch_related("experiments")
    for report in rows.order_by("ended_at")[:READ]:
        assert report.ended_at is not None
        of = ", ".join(experiment.name for experiment in report.experiments.all()) or "chosen runs"
        facts = {"report": report.pk, "reason": report.reason}
        path = f"/reports/{report.pk}/"
        yield Seen(
            f"{kind}:{report.pk}", kind, report.ended_at, f"The report of {of} {words}", report.reason, path, facts
        )


def _done_reports(since: datetime, now: datetime) -> Iterator[Seen]:
    return _reports(since, ReportState.DONE, NoticeKind.REPORT_DONE, "is done")


def _failed_reports(since: datetime, now: datetime) -> Iterator[Seen]:
    return _reports(since, ReportState.FAILED, NoticeKind.REPORT_FAILED, "failed")


def _unwell_networks(since: datetime, now: datetime) -> Iterator[Seen]:
    unwell = (NetworkState.DEGRADED, NetworkState.FAILED)
    for network in Network.objects.filter(state__in=unwell, changed__gte=since).order_by("changed")[:READ]:
        key = f"network:{network.pk}:{network.state}:{_spell_of(network.changed)}"
        facts = {"network": network.pk, "state": network.state, "reason": network.reason}
        title = f"The network {network.name} is {network.state}"
        path = f"/networks/{network.pk}/"
        yield Seen(key, NoticeKind.NETWORK_DEGRADED, network.changed, title, network.reason, path, facts)


def _alarms(since: datetime, now: datetime) -> Iterator[Seen]:
    events = AlarmEvent.objects.filter(at__gte=since, state__in=(State.FIRING.value, State.RESOLVED.value))
    for event in events.select_related("network").order_by("at")[:READ]:
        network = event.network
        facts: dict[str, Any] = {"network": network.pk, "alarm": event.alarm, "state": event.state}
        facts |= {"rule": event.rule, "value": event.value}
        title = f"{network.name}: alarm {event.state}"
        path = f"/networks/{network.pk}/#alarms"
        yield Seen(f"alarm:{event.pk}", NoticeKind.ALARM, event.at, title, event.words, path, facts)


def _full_disk(since: datetime, now: datetime) -> Iterator[Seen]:
    """Reported once a day."""
    found = disk()
    if found.is_nearly_full:
        text = f"{size(found.free)} of {size(found.total)} free."
        facts = {"free_bytes": found.free, "total_bytes": found.total}
        title = f"The disk is {percent(found.used_share)} full"
        yield Seen(f"disk:{now:%Y-%m-%d}", NoticeKind.DISK_NEARLY_FULL, now, title, text, "/storage/", facts)


LOOKS = {
    NoticeKind.RUN_FAILED.value: _failed_runs,
    NoticeKind.THRESHOLDS_BROKEN.value: _broken_thresholds,
    NoticeKind.EXPERIMENT_FINISHED.value: _finished_experiments,
    NoticeKind.REPORT_DONE.value: _done_reports,
    NoticeKind.REPORT_FAILED.value: _failed_reports,
    NoticeKind.NETWORK_DEGRADED.value: _unwell_networks,
    NoticeKind.ALARM.value: _alarms,
    NoticeKind.DISK_NEARLY_FULL.value: _full_disk,
}
