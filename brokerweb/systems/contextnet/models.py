"""Applications of networks that are hosted here, and their subscriptions; secrets of nodes that were revoked."""

from __future__ import annotations

from django.db import models

from brokerweb.hosting.models import OwnedClient, OwnedSubscription
from brokerweb.networks.models import Network


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


class NodeSecret(models.Model):
    """A node of which an operator has revoked a secret. The secrets themselves follow from that of the network."""

    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="+")
    node = models.CharField(max_length=32)
    generation = models.PositiveIntegerField(default=0, help_text="How many of its secrets were revoked before")
    is_revoked = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["network", "node"], name="one_secret_a_node")]

    def __str__(self) -> str:
        return self.node
