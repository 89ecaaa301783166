"""Who is told of what, and how telling them went."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id


class Channel(models.TextChoices):
    EMAIL = "email", "E-mail"
    WEBHOOK = "webhook", "Webhook"


class NoticeKind(models.TextChoices):
    """What somebody can be told of."""

    RUN_FAILED = "run_failed", "A run failed"
    EXPERIMENT_FINISHED = "experiment_finished", "All runs of an experiment have ended"
    THRESHOLDS_BROKEN = "thresholds_broken", "A run broke its thresholds"
    REPORT_DONE = "report_done", "A report is done"
    REPORT_FAILED = "report_failed", "A report failed"
    NETWORK_DEGRADED = "network_degraded", "A network lost brokers, or failed"
    DISK_NEARLY_FULL = "disk_nearly_full", "The disk is nearly full"
    TEST = "test", "A test"


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class Target(models.Model):
    """Somebody to be told: an e-mail address, or a program that listens at an http address."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    channel = models.CharField(max_length=10, choices=Channel)
    address = models.CharField(max_length=500, help_text="An e-mail address, or an http or https address")
    secret = models.CharField(max_length=200, blank=True, help_text="Of a webhook: what it is signed with")
    kinds = models.JSONField(default=list, help_text="Of what it is told")
    enabled = models.BooleanField(default=True)
    failures = models.PositiveIntegerField(default=0, editable=False, help_text="In a row")
    note = models.TextField(blank=True, editable=False, help_text="Why it was switched off, if it was")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)
    since = models.DateTimeField(
        default=timezone.now, editable=False, help_text="It is told of what happens from then on"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Notice(models.Model):
    """Something that happened of which somebody wanted to be told. One of each key."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    key = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=30, choices=NoticeKind)
    title = models.CharField(max_length=300)
    text = models.TextField(blank=True)
    path = models.CharField(max_length=200, help_text="The page that shows it")
    facts = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.title


class Delivery(models.Model):
    """One notice to one target."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="deliveries")
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    due = models.DateTimeField(default=timezone.now, help_text="Not tried before; while it is tried, tried again then")
    sentence = models.TextField(blank=True, help_text="How the last attempt went")
    created = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["target", "notice"], name="one_delivery_per_target")]
        indexes = [models.Index(fields=["state", "due"]), models.Index(fields=["target", "-created"])]

    def __str__(self) -> str:
        return f"{self.notice_id} to {self.target_id}: {self.state}"
