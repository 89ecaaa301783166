"""Which process hosts the clients of a system, and what becomes of a subscription's notifications."""

from django.db import models
from django.utils import timezone


class HostLease(models.Model):
    """The one process that hosts the clients of a system."""

    system = models.CharField(primary_key=True, max_length=64)
    holder = models.CharField(max_length=200, blank=True)
    expires = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.system}: {self.holder}"


class Delivered(models.Model):
    """Columns of a subscription: what became of its notifications."""

    notified = models.PositiveBigIntegerField(default=0, help_text="Notifications received")
    delivered = models.PositiveBigIntegerField(default=0, help_text="Of these, to the URL")
    given_up = models.PositiveBigIntegerField(default=0, help_text="Of these, not delivered")
    last_notified = models.DateTimeField(null=True, blank=True)
    last_failure = models.DateTimeField(null=True, blank=True)
    failure = models.TextField(blank=True, help_text="The last one")

    class Meta:
        abstract = True
