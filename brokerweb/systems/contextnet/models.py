"""Applications of networks that are hosted here, and their subscriptions."""

from __future__ import annotations

from django.db import models

from brokerweb.hosting.models import OwnedClient, OwnedSubscription


class Application(OwnedClient):
    """In the log of its network while it has subscriptions or is used, and its owner may use the network."""

    class Meta:
        ordering = ["created", "id"]
        constraints = [models.UniqueConstraint(fields=["network", "owner", "name"], name="one_application_a_name")]


class Subscription(OwnedSubscription):
    """Messages of nodes that an application wants, and what became of them."""

    client = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="subscriptions")
    topic = models.CharField(max_length=64, help_text="inbound, or another topic that nodes may publish to")
    node = models.CharField(max_length=32, blank=True, help_text="Only messages of this one; empty: of all")

    class Meta:
        ordering = ["created", "id"]
