"""Subscriptions of both standards."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id
from brokerweb.networks.models import Network


class Subscription(models.Model):
    """Notifications of changes in a network, to an address. They end with its owner's right to read the network."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="ngsi_subscriptions")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    standard = models.CharField(max_length=10, choices=[("v2", "NGSI-v2"), ("ld", "NGSI-LD")])
    body = models.JSONField(help_text="As it was sent, without what the server sets")
    scopes = models.CharField(max_length=600, blank=True, help_text="Fiware-ServicePath")
    context = models.CharField(max_length=500, blank=True, help_text="URL of the @context")
    is_active = models.BooleanField(default=True)
    expires = models.DateTimeField(null=True, blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    sent = models.PositiveBigIntegerField(default=0, editable=False, help_text="Notifications, delivered or not")
    failures = models.PositiveIntegerField(default=0, editable=False, help_text="Consecutive failures")
    last_sent = models.DateTimeField(null=True, blank=True, editable=False)
    last_success = models.DateTimeField(null=True, blank=True, editable=False)
    last_failure = models.DateTimeField(null=True, blank=True, editable=False)
    reason = models.TextField(blank=True, editable=False, help_text="Of the last failure")

    class Meta:
        ordering = ["created", "id"]
        verbose_name = "NGSI subscription"

    def __str__(self) -> str:
        return f"{self.standard} {self.id}"
