"""Reports by the clock: a schedule is a Celery beat task with a report to order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from celery.schedules import ParseException, crontab
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from brokerweb.experiments.models import Experiment
from brokerweb.reports import services
from brokerweb.reports.models import Report, Schedule
from overlay.errors import InvalidSetting

TASK = "brokerweb.reports.tasks.make_scheduled_report"
CRON_FIELDS = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
MIN_EVERY_S = 60


@transaction.atomic
def create(
    *,
    name: str,
    experiments: Sequence[Experiment],
    crontab: str = "",
    every_s: int | None = None,
    kind: str = "comparison",
    enabled: bool = True,
    owner: User | None = None,
) -> Schedule:
    """A new schedule: ``crontab`` as five fields in UTC, or ``every_s`` seconds. Raises ``InvalidSetting``."""
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise InvalidSetting("name", "must be 1 to 100 printable characters")
    if Schedule.objects.filter(name=name).exists() or PeriodicTask.objects.filter(name=f"report: {name}").exists():
        raise InvalidSetting("name", f"{name!r} is taken by another schedule")
    if not experiments:
        raise InvalidSetting("experiments", "a schedule needs an experiment to report on")
    when = _when(crontab, every_s)
    task = PeriodicTask.objects.create(name=f"report: {name}", task=TASK, enabled=enabled, **when)
    schedule = Schedule.objects.create(name=name, kind=kind, periodic_task=task, owner=owner)
    schedule.experiments.set(experiments)
    task.args = json.dumps([schedule.pk])
    task.save()
    return schedule


def change(
    schedule: Schedule, *, crontab: str = "", every_s: int | None = None, enabled: bool | None = None
) -> Schedule:
    """Another time, or on and off. Raises ``InvalidSetting``."""
    task = schedule.periodic_task
    if crontab or every_s is not None:
        task.crontab = task.interval = None
        for name, value in _when(crontab, every_s).items():
            setattr(task, name, value)
    if enabled is not None:
        task.enabled = enabled
    task.save()
    return schedule


def delete(schedule: Schedule) -> None:
    """Deletes a schedule; the reports it made stay."""
    schedule.periodic_task.delete()


def make_report(schedule_id: str) -> Report | None:
    """What the clock calls: orders the report, unless the last one is still to be made."""
    schedule = Schedule.objects.filter(pk=schedule_id).first()
    if schedule is None or schedule.reports.filter(state__in=["queued", "running"]).exists():
        return None
    experiments = list(schedule.experiments.all())
    return services.create(kind=schedule.kind, experiments=experiments, owner=schedule.owner, schedule=schedule)


def next_times(schedule: Schedule, now: datetime, count: int = 3) -> list[datetime]:
    """When it comes next; empty while it is switched off."""
    task = schedule.periodic_task
    if not task.enabled:
        return []
    if task.interval:
        every = timedelta(**{task.interval.period: task.interval.every})
        first = max(now, (task.last_run_at or now) + every)
        return [first + index * every for index in range(count)]
    times: list[datetime] = []
    if task.crontab:
        cron = crontab(**{name: getattr(task.crontab, name) for name in CRON_FIELDS}, nowfun=lambda: now)
        moment = now.astimezone(UTC)
        for _ in range(count):
            start, wait, _now = cron.remaining_delta(moment)
            moment = start + wait
            times.append(moment)
    return times


def with_hours() -> QuerySet[Schedule]:
    """Schedules with what ``words`` and ``next_times`` read of them."""
    return Schedule.objects.select_related("periodic_task__crontab", "periodic_task__interval")


def words(schedule: Schedule) -> tuple[str, int | None]:
    """Its ``crontab`` text and its ``every_s``, of which one is set."""
    task = schedule.periodic_task
    if task.interval:
        return "", int(timedelta(**{task.interval.period: task.interval.every}).total_seconds())
    return (" ".join(getattr(task.crontab, name) for name in CRON_FIELDS), None) if task.crontab else ("", None)


def _when(cron: str, every_s: int | None) -> dict[str, object]:
    if bool(cron) == (every_s is not None):
        raise InvalidSetting("crontab", "give either a crontab or every_s")
    if every_s is not None:
        if every_s < MIN_EVERY_S:
            raise InvalidSetting("every_s", f"must be at least {MIN_EVERY_S} s, not {every_s}")
        return {"interval": IntervalSchedule.objects.get_or_create(every=every_s, period=IntervalSchedule.SECONDS)[0]}
    fields = cron.split()
    if len(fields) != len(CRON_FIELDS):
        raise InvalidSetting(
            "crontab", "has five fields: minute hour day-of-month month day-of-week, such as 0 6 * * 1"
        )
    named = dict(zip(CRON_FIELDS, fields, strict=True))
    try:
        crontab(**named)
    except (ParseException, ValueError, KeyError) as error:
        raise InvalidSetting("crontab", f"cannot be read: {error}") from None
    return {"crontab": CrontabSchedule.objects.get_or_create(**named, timezone="UTC")[0]}
