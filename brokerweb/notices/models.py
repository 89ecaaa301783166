"""Notification targets, notices and their deliveries."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id


class Channel(models.TextChoices):
    EMAIL = "email", "E-mail"
    WEBHOOK = "webhook", "Webhook"


class NoticeKind(models.TextChoices):
    """Kinds of events to report."""

    RUN_FAILED = "run_failed", "A run failed"
    EXPERIMENT_FINISHED = "experiment_finished", "All runs of an experiment have ended"
    THRESHOLDS_BROKEN = "thresholds_broken", "A run broke its thresholds"
    REPORT_DONE = "report_done", "A report is done"
    REPORT_FAILED = "report_failed", "A report failed"
    NETWORK_DEGRADED = "network_degraded", "A network lost brokers, or failed"
    ALARM = "alarm", "An alarm of a network fired, or is resolved"
    DISK_NEARLY_FULL = "disk_nearly_full", "The disk is nearly full"
    TEST = "test", "A test"


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class Target(models.Model):
    """A target: an e-mail address or the URL of a webhook."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    channel = models.CharField(max_length=10, choices=Channel)
    address = models.CharField(max_length=500, help_text="An e-mail address, or an HTTP or HTTPS URL")
    secret = models.CharField(max_length=200, blank=True, help_text="Key of a webhook's signature")
    kinds = models.JSONField(default=list, help_text="Event kinds to report")
    enabled = models.BooleanField(default=True)
    failures = models.PositiveIntegerField(default=0, editable=False, help_text="Consecutive failures")
    note = models.TextField(blank=True, editable=False, help_text="Reason it was disabled, if any")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)
    since = models.DateTimeField(
        default=timezone.now, editable=False, help_text="Events from this time on are reported"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Notice(models.Model):
    """An event reported to at least one target. Unique by key."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    key = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=30, choices=NoticeKind)
    title = models.CharField(max_length=300)
    text = models.TextField(blank=True)
    path = models.CharField(max_length=200, help_text="Path of its page")
    facts = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.title


class Delivery(models.Model):
    """The delivery of a notice to a target."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="deliveries")
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    due = models.DateTimeField(default=timezone.now, help_text="Time of the next attempt")
    sentence = models.TextField(blank=True, help_text="Result of the last attempt")
    created = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["target", "notice"], name="one_delivery_per_target")]
        indexes = [models.Index(fields=["state", "due"]), models.Index(fields=["target", "-created"])]

    def __str__(self) -> str:
        return f"{self.notice_id} to {self.target_id}: {self.state}"
