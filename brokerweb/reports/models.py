"""Reports computed by Spark, and schedules that create them."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from brokerweb.experiments.models import Experiment, Run
from brokerweb.kit.ids import new_id


class ReportState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


BEING_MADE = (ReportState.QUEUED, ReportState.RUNNING)
ENDED = (ReportState.DONE, ReportState.FAILED)


class ReportKind(models.TextChoices):
    COMPARISON = "comparison"


class ScheduleKind(models.TextChoices):
    """The action of a schedule."""

    COMPARISON = "comparison", "makes a report"
    LAUNCH = "launch", "launches"


class Schedule(models.Model):
    """An action and its times, which are those of a Celery beat task, editable in the admin."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=20, choices=ScheduleKind, default=ScheduleKind.COMPARISON)
    experiments = models.ManyToManyField(Experiment, related_name="schedules")
    periodic_task = models.OneToOneField(PeriodicTask, on_delete=models.CASCADE, related_name="report_schedule")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Report(models.Model):
    """One Spark job over finished runs: its state, its tables and charts, its file."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    kind = models.CharField(max_length=20, choices=ReportKind, default=ReportKind.COMPARISON)
    runs = models.ManyToManyField(Run, related_name="reports", blank=True)
    experiments = models.ManyToManyField(Experiment, related_name="reports", blank=True)
    schedule = models.ForeignKey(Schedule, null=True, blank=True, on_delete=models.SET_NULL, related_name="reports")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    state = models.CharField(max_length=10, choices=ReportState, default=ReportState.QUEUED, db_index=True)
    reason = models.TextField(blank=True)
    progress = models.TextField(blank=True, help_text="What it is doing or waiting for")
    while_measuring = models.BooleanField(
        default=False, help_text="Compute even while a run is measuring on this host, which disturbs that run"
    )
    cancel_requested = models.BooleanField(default=False)
    result = models.JSONField(default=dict, blank=True)
    html_path = models.CharField(max_length=300, blank=True)

    created = models.DateTimeField(default=timezone.now, editable=False)
    asks = models.PositiveIntegerField(default=0, editable=False, help_text="How often a Spark worker was asked")
    attempts = models.PositiveIntegerField(
        default=0, editable=False, help_text="How often its computing began; fences off earlier ones"
    )
    asked_at = models.DateTimeField(null=True, blank=True, editable=False)
    heartbeat = models.DateTimeField(null=True, blank=True, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]
        indexes = [models.Index(fields=["-created"]), models.Index(fields=["state", "-created"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class FiringOutcome(models.TextChoices):
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"


class Firing(models.Model):
    """One execution of a schedule and its result."""

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="firings")
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, help_text="None: the clock"
    )
    outcome = models.CharField(max_length=10, choices=FiringOutcome)
    sentence = models.TextField(blank=True, help_text="Why it did nothing, if it did nothing")
    report = models.ForeignKey(Report, null=True, blank=True, on_delete=models.SET_NULL, related_name="firings")
    runs = models.ManyToManyField(Run, related_name="firings", blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["schedule", "-at"])]

    def __str__(self) -> str:
        return f"{self.schedule_id} at {self.at:%Y-%m-%d %H:%M} UTC: {self.outcome}"
