"""Bridges of networks: what they should be, and as they were last observed."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id
from brokerweb.networks.models import Desired, Network


class BridgeState(models.TextChoices):
    CONNECTED = "connected"
    CONNECTING = "connecting"
    FAILED = "failed"
    STOPPED = "stopped"


class Bridge(models.Model):
    """A process that runs while its network does, unless it should be stopped."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="bridges")
    number = models.PositiveIntegerField(help_text="Within its network, from 1")
    document = models.JSONField(default=dict, help_text="Its settings, without secrets")
    secrets = models.JSONField(default=dict, editable=False, help_text="Password and key; never shown")
    desired = models.CharField(max_length=10, choices=Desired, default=Desired.RUNNING)
    revision = models.PositiveIntegerField(default=1, editable=False, help_text="Increases with every change")
    state = models.CharField(max_length=10, choices=BridgeState, default=BridgeState.STOPPED, editable=False)
    reason = models.TextField(blank=True, editable=False)
    since = models.DateTimeField(default=timezone.now, editable=False, help_text="Begin of its state")
    pid = models.PositiveIntegerField(null=True, blank=True, editable=False)
    restarts = models.PositiveIntegerField(default=0, editable=False)
    report = models.JSONField(default=dict, editable=False, help_text="What its process reported last")
    seen = models.DateTimeField(default=timezone.now, editable=False, help_text="When that was")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["network", "number"], name="one_bridge_a_number")]

    def __str__(self) -> str:
        return f"bridge {self.number}"
