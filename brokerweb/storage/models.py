"""Retention policy, disk usage of runs, and deletions."""

from django.conf import settings
from django.db import models
from django.utils import timezone

LEAST_FREE_BYTES = 500_000_000


class Policy(models.Model):
    """The retention policy, a single row. Without it nothing is deleted."""

    ONLY = 1

    max_days = models.PositiveIntegerField(
        null=True, blank=True, help_text="Maximum age of a run's files, in days; none: no limit"
    )
    max_bytes = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Maximum size of all files of ended runs"
    )
    include_simulated = models.BooleanField(default=True, help_text="Also delete cached simulations")
    include_reports = models.BooleanField(default=False, help_text="Also delete files of reports; their pages are kept")
    least_free_bytes = models.PositiveBigIntegerField(
        default=LEAST_FREE_BYTES, help_text="Minimum free bytes to launch"
    )
    change_days = models.PositiveIntegerField(default=365, help_text="Maximum age of the change log's rows, in days")
    most_changes = models.PositiveIntegerField(default=100_000, help_text="Maximum number of rows of the change log")
    changed = models.DateTimeField(default=timezone.now, editable=False)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        verbose_name_plural = "policies"

    def __str__(self) -> str:
        return "retention policy"

    @property
    def is_on(self) -> bool:
        """Whether the policy deletes anything."""
        return self.max_days is not None or self.max_bytes is not None


class Footprint(models.Model):
    """Disk usage of an ended run in bytes, measured once."""

    run = models.OneToOneField("experiments.Run", primary_key=True, on_delete=models.CASCADE, related_name="footprint")
    journal_bytes = models.PositiveBigIntegerField(default=0, help_text="Under runs/: journals, traces, messages")
    lake_bytes = models.PositiveBigIntegerField(default=0, help_text="Under lake/: samples, ticks, events")
    total_bytes = models.GeneratedField(
        expression=models.F("journal_bytes") + models.F("lake_bytes"),
        output_field=models.PositiveBigIntegerField(),
        db_persist=True,
    )
    removing = models.BooleanField(default=False, help_text="Deletion of its files is in progress or was interrupted")

    def __str__(self) -> str:
        return f"{self.run_id}: {self.total_bytes} bytes"


class Gauge(models.Model):
    """Sizes of everything except runs, in bytes; a single row, updated every few minutes."""

    ONLY = 1

    reports = models.PositiveBigIntegerField(default=0)
    simulated = models.PositiveBigIntegerField(default=0)
    database = models.PositiveBigIntegerField(default=0)
    logs = models.PositiveBigIntegerField(default=0)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"as of {self.at:%Y-%m-%d %H:%M} UTC"


class Removal(models.Model):
    """A deletion."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    runs = models.PositiveIntegerField(default=0)
    simulated = models.PositiveIntegerField(default=0)
    reports = models.PositiveIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, help_text="None: automatic"
    )

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.runs} runs, {self.bytes} bytes"
