"""Clients of networks that are hosted here for applications on the web, and their subscriptions."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.hosting.models import Delivered
from brokerweb.kit.ids import new_id
from brokerweb.networks.models import Network


def new_identity() -> str:
    """16 bytes, in hexadecimal digits."""
    return secrets.token_hex(16)


class SilbopsClient(models.Model):
    """Attached at a broker while its network runs and its owner may use the network."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=64, help_text="Its owner's, in this network")
    identity = models.CharField(max_length=32, default=new_identity, editable=False, help_text="As brokers know it")
    context = models.JSONField(null=True, blank=True, help_text="Values by name; empty: never set")
    is_publisher = models.BooleanField(default=False, help_text="Whether it advertises")
    variables = models.JSONField(default=list, help_text="Of its context, that go with publications")
    readable = models.JSONField(default=list, help_text="Of subscribers, that functions of its publications read")
    broker = models.PositiveIntegerField(null=True, blank=True, help_text="Index of its own; empty: any")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["created", "id"]
        constraints = [models.UniqueConstraint(fields=["network", "owner", "name"], name="one_silbops_client_a_name")]

    def __str__(self) -> str:
        return self.name


class State(models.TextChoices):
    ACTIVE = "active"
    REFUSED = "refused"


class SilbopsSubscription(Delivered):
    """What a client is subscribed to, and what became of its notifications."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    client = models.ForeignKey(SilbopsClient, on_delete=models.CASCADE, related_name="subscriptions")
    where = models.JSONField(default=list, help_text="Constraints: name, operator, value")
    scope = models.TextField(blank=True, help_text="A function of context")
    url = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    reason = models.TextField(blank=True, help_text="Why it was refused")
    created = models.DateTimeField(default=timezone.now, editable=False)
    ended = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created", "id"]

    def __str__(self) -> str:
        return f"subscription {self.id}"
