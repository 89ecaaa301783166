"""Deletions that brokers have not confirmed, so that they are repeated after a restart of the web process."""

from django.db import models

from brokerweb.networks.models import Network


class PendingWithdrawal(models.Model):
    """One at one broker. Times are Unix milliseconds."""

    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="+")
    broker = models.CharField(max_length=100, help_text="Its address")
    process = models.BigIntegerField(null=True, help_text="PID that the broker had")
    provider = models.TextField()
    type = models.TextField()
    entity = models.TextField()
    scope = models.TextField()
    stamp = models.BigIntegerField()
    until = models.BigIntegerField(help_text="The latest ValidEnd known; 0 if unknown")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.type}/{self.entity}/{self.scope} of {self.provider} at {self.broker}"
