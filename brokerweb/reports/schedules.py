"""Schedules: Celery beat tasks that create reports or launch experiments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from celery.schedules import ParseException, crontab
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from brokerweb.changelog.recording import CHANGE, CREATE, DELETE, logged, recorded, say, subject
from brokerweb.experiments import services as experiment_services
from brokerweb.experiments.models import Experiment, Run
from brokerweb.experiments.states import UNFINISHED
from brokerweb.kit import etags
from brokerweb.kit.errors import NotPossible
from brokerweb.reports import hours, services
from brokerweb.reports.models import BEING_MADE, Firing, FiringOutcome, Schedule, ScheduleKind
from overlay.core.errors import InvalidSetting, shown

TASK = "brokerweb.reports.tasks.make_scheduled_report"
MIN_EVERY_S, MAX_EVERY_S = 60, 31_536_000
MOST_CRON = 100
"""Maximum length of a crontab."""
MOST_FIRINGS = 200
"""Maximum size of a schedule's history."""


@logged(CREATE, by="owner")
def create(
    *,
    name: str,
    experiments: Sequence[Experiment],
    crontab: str = "",
    every_s: int | None = None,
    kind: str = ScheduleKind.COMPARISON,
    enabled: bool = True,
    owner: User | None = None,
) -> Schedule:
    """Create a schedule: ``crontab`` with five fields in UTC, or ``every_s`` seconds. Raises ``InvalidSetting``."""
    if kind not in ScheduleKind.values:
        raise InvalidSetting("kind", f"must be one of {', '.join(ScheduleKind.values)}, not {shown(kind, 40)}")
    name = _checked_name(name)
    _check_experiments(experiments)
    task = PeriodicTask.objects.create(name=_task_name(name), task=TASK, enabled=enabled, **_when(crontab, every_s))
    schedule = Schedule.objects.create(name=name, kind=kind, periodic_task=task, owner=owner)
    schedule.experiments.set(experiments)
    task.args = json.dumps([schedule.pk])
    task.save()
    return schedule


@logged(CHANGE)
def change(
    schedule: Schedule,
    *,
    name: str | None = None,
    experiments: Sequence[Experiment] | None = None,
    crontab: str = "",
    every_s: int | None = None,
    enabled: bool | None = None,
    seen: str = "",
) -> Schedule:
    """Change name, experiments, times, or pause it; returns the schedule.

    Raises ``InvalidSetting``, and ``Outdated`` if the schedule differs from ``seen``.
    """
    schedule = Schedule.objects.select_for_update().get(pk=schedule.pk)
    etags.check(seen, stored(schedule))
    task = schedule.periodic_task
    if name is not None:
        schedule.name = _checked_name(name, schedule)
        task.name = _task_name(schedule.name)
        schedule.save()
    if experiments is not None:
        _check_experiments(experiments)
        schedule.experiments.set(experiments)
    if crontab or every_s is not None:
        task.crontab = task.interval = None
        for field, value in _when(crontab, every_s).items():
            setattr(task, field, value)
    if enabled is not None:
        task.enabled = enabled
    task.save()
    return schedule


def stored(schedule: Schedule) -> dict[str, Any]:
    """The values shown in its form."""
    cron, every_s = words(schedule)
    experiments = sorted(one.pk for one in schedule.experiments.all())
    return {"name": schedule.name, "experiments": experiments, "crontab": cron, "every_s": every_s}


def _state(schedule: Schedule) -> dict[str, Any]:
    return {**stored(schedule), "kind": schedule.kind, "enabled": schedule.periodic_task.enabled}


subject(Schedule, "schedule", state=_state)


def _task_name(name: str) -> str:
    return f"report: {name}"


def _checked_name(name: str, own: Schedule | None = None) -> str:
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidSetting("name", "must be 1 to 100 printable characters")
    others = Schedule.objects.exclude(pk=own.pk) if own else Schedule.objects.all()
    tasks = PeriodicTask.objects.exclude(pk=own.periodic_task_id) if own else PeriodicTask.objects.all()
    if others.filter(name=name).exists() or tasks.filter(name=_task_name(name)).exists():
        raise InvalidSetting("name", f"{name!r} is taken by another schedule")
    return name


def _check_experiments(experiments: Sequence[Experiment]) -> None:
    if not experiments:
        raise InvalidSetting("experiments", "a schedule needs an experiment")


def delete(schedule: Schedule) -> None:
    """Delete a schedule and its history. Its reports and runs are kept."""
    with recorded(DELETE, schedule):
        schedule.periodic_task.delete()


def fire(schedule_id: str, by: User | None = None) -> Firing | None:
    """Execute a schedule, by beat or by a user: create the report or launch, unless the previous execution is
    unfinished.

    The result is stored in its history. ``None`` if the schedule does not exist.
    """
    schedule = Schedule.objects.filter(pk=schedule_id).first()
    if schedule is None:
        return None
    with transaction.atomic():
        firing = Firing.objects.create(schedule=schedule, by=by, outcome=FiringOutcome.DONE)
        if by is not None:
            say("schedule", schedule.pk, schedule.name, "run now", by=by)
        try:
            _carry_out(schedule, firing)
        except NotPossible as error:
            firing.outcome, firing.sentence = FiringOutcome.SKIPPED, str(error)
        except InvalidSetting as error:
            firing.outcome, firing.sentence = FiringOutcome.FAILED, f"{error.field}: {error.sentence}"
        firing.save()
        kept = Firing.objects.filter(schedule=schedule).values_list("pk", flat=True)[:MOST_FIRINGS]
        Firing.objects.filter(schedule=schedule, pk__lt=min(kept)).delete()
    return firing


def _carry_out(schedule: Schedule, firing: Firing) -> None:
    experiments = list(schedule.experiments.all())
    if schedule.kind == ScheduleKind.LAUNCH:
        left = Run.objects.unchanged().filter(experiment__in=experiments, state__in=UNFINISHED).count()
        if left:
            raise NotPossible(f"Nothing was launched: {left} of its runs have not ended yet.")
        with transaction.atomic():  # all of them, or none
            for experiment in experiments:
                firing.runs.add(*experiment_services.launch(experiment, schedule.owner).runs)
        return
    if schedule.reports.filter(state__in=BEING_MADE).exists():
        raise NotPossible("No report was requested: the previous one is not finished.")
    firing.report = services.create(
        kind=schedule.kind, experiments=experiments, owner=schedule.owner, schedule=schedule
    )


def next_times(schedule: Schedule, now: datetime, count: int = 3) -> list[datetime]:
    """The next times; empty while it is paused."""
    task = schedule.periodic_task
    if not task.enabled:
        return []
    if task.interval:
        every = timedelta(**{task.interval.period: task.interval.every})
        first = max(now, (task.last_run_at or now) + every)
        return [first + index * every for index in range(count)]
    return _cron_times(words(schedule)[0], now, count) if task.crontab else []


def _cron_times(text: str, now: datetime, count: int) -> list[datetime]:
    cron = crontab(**dict(zip(hours.FIELDS, text.split(), strict=True)), nowfun=lambda: now)
    moment, times = now.astimezone(UTC), []
    for _ in range(count):
        try:
            start, wait, _now = cron.remaining_delta(moment)
        except (RuntimeError, OverflowError):
            break  # a day that does not come in any year that can be estimated
        moment = start + wait
        times.append(moment)
    return times


def preview(crontab: str, every_s: int | None, now: datetime) -> tuple[str, list[datetime]]:
    """Times as text and the next three. Raises ``InvalidSetting``."""
    if crontab and every_s is None:
        _read_cron(crontab)
        return hours.of_crontab(crontab), _cron_times(crontab, now, 3)
    seconds = _checked_every(every_s)
    return hours.of_interval(seconds), [now + (index + 1) * timedelta(seconds=seconds) for index in range(3)]


def with_hours() -> QuerySet[Schedule]:
    """Schedules with the data for ``words`` and ``next_times``."""
    return Schedule.objects.select_related("periodic_task__crontab", "periodic_task__interval")


def words(schedule: Schedule) -> tuple[str, int | None]:
    """Its ``crontab`` text and its ``every_s``, of which one is set."""
    task = schedule.periodic_task
    if task.interval:
        return "", int(timedelta(**{task.interval.period: task.interval.every}).total_seconds())
    return (" ".join(getattr(task.crontab, name) for name in hours.FIELDS), None) if task.crontab else ("", None)


def in_words(schedule: Schedule) -> str:
    """Its times as text."""
    cron, every_s = words(schedule)
    if every_s is not None:
        return hours.of_interval(every_s)
    return hours.of_crontab(cron) if cron else "never"


def last_firings(schedules: Iterable[Schedule]) -> dict[str, Firing]:
    """The last execution by schedule id."""
    newest = Firing.objects.filter(schedule=OuterRef("pk")).order_by("-at", "-pk").values("pk")
    rows = Schedule.objects.filter(pk__in=[one.pk for one in schedules]).annotate(newest=Subquery(newest[:1]))
    firings = dressed(Firing.objects.filter(pk__in=[row.newest for row in rows if row.newest]))
    return {firing.schedule_id: firing for firing in firings}


def dressed(rows: QuerySet[Firing]) -> list[Firing]:
    """Executions with their reports, and the number of launched runs by state in ``counts``."""
    firings = list(rows.select_related("report", "by").defer("report__result"))
    counts: dict[int, dict[str, int]] = {firing.pk: {} for firing in firings}
    states = Run.objects.filter(firings__in=firings).order_by().values_list("firings", "state").annotate(Count("pk"))
    for firing, state, count in states:
        counts[firing][state] = count
    for firing in firings:
        firing.counts = counts[firing.pk]  # type: ignore[attr-defined]
    return firings


def _when(cron: str, every_s: int | None) -> dict[str, object]:
    if bool(cron) == (every_s is not None):
        raise InvalidSetting("crontab", "give either a crontab or every_s")
    if every_s is not None:
        every = _checked_every(every_s)
        return {"interval": IntervalSchedule.objects.get_or_create(every=every, period=IntervalSchedule.SECONDS)[0]}
    named = _read_cron(cron)
    return {"crontab": CrontabSchedule.objects.get_or_create(**named, timezone="UTC")[0]}


def _checked_every(every_s: int | None) -> int:
    if every_s is None:
        raise InvalidSetting("every_s", "is required")
    if not MIN_EVERY_S <= every_s <= MAX_EVERY_S:
        raise InvalidSetting("every_s", f"must be at least {MIN_EVERY_S} s and at most a year, not {every_s}")
    return every_s


def _read_cron(cron: str) -> dict[str, str]:
    """Its fields by name. Raises ``InvalidSetting``."""
    fields = cron.split()
    if len(fields) != len(hours.FIELDS) or len(cron) > MOST_CRON:
        raise InvalidSetting(
            "crontab", "has five fields: minute hour day-of-month month day-of-week, such as 0 6 * * 1"
        )
    named = dict(zip(hours.FIELDS, fields, strict=True))
    try:
        crontab(**named)
    except (ParseException, ValueError, KeyError, TypeError) as error:
        raise InvalidSetting("crontab", f"cannot be read: {error}") from None
    return named
