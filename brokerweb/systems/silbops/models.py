"""Clients of networks that are hosted here for applications on the web, and their subscriptions."""

from __future__ import annotations

import secrets

from django.db import models

from brokerweb.hosting.models import OwnedClient, OwnedSubscription


def new_identity() -> str:
    """16 bytes, in hexadecimal digits."""
    return secrets.token_hex(16)


class SilbopsClient(OwnedClient):
    """Attached at a broker while its network runs and its owner may use the network."""

    identity = models.CharField(max_length=32, default=new_identity, editable=False, help_text="As brokers know it")
    context = models.JSONField(null=True, blank=True, help_text="Values by name; empty: never set")
    is_publisher = models.BooleanField(default=False, help_text="Whether it advertises")
    variables = models.JSONField(default=list, help_text="Of its context, that go with publications")
    readable = models.JSONField(default=list, help_text="Of subscribers, that functions of its publications read")
    broker = models.PositiveIntegerField(null=True, blank=True, help_text="Index of its own; empty: any")

    class Meta:
        ordering = ["created", "id"]
        constraints = [models.UniqueConstraint(fields=["network", "owner", "name"], name="one_silbops_client_a_name")]


class State(models.TextChoices):
    ACTIVE = "active"
    REFUSED = "refused"


class SilbopsSubscription(OwnedSubscription):
    """What a client is subscribed to, and what became of its notifications."""

    client = models.ForeignKey(SilbopsClient, on_delete=models.CASCADE, related_name="subscriptions")
    where = models.JSONField(default=list, help_text="Constraints: name, operator, value")
    scope = models.TextField(blank=True, help_text="A function of context")
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    reason = models.TextField(blank=True, help_text="Why it was refused")
    ended = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created", "id"]
