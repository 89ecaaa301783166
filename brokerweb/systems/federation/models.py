"""Clients of networks that are hosted here for applications on the web, and their subscriptions."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.hosting.models import Delivered
from brokerweb.kit.ids import new_id
from brokerweb.networks.models import Network


class ClientRole(models.TextChoices):
    CONSUMER = "consumer"
    PROVIDER = "provider"


class HostedClient(models.Model):
    """A consumer or provider. It is registered at a broker while its network runs and its owner may use the network."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="hosted_clients")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=64, help_text="In the network")
    role = models.CharField(max_length=10, choices=ClientRole)
    is_own = models.BooleanField(default=False, help_text="The consumer of an account that registered none itself")
    url = models.CharField(max_length=500, blank=True, help_text="Where it is notified, or asked")
    scopes = models.JSONField(default=list)
    needs = models.JSONField(default=dict, help_text="By scope, those whose data a provider needs first")
    broker = models.PositiveIntegerField(null=True, blank=True, help_text="Index of the one to begin with; empty: any")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["created", "id"]
        constraints = [models.UniqueConstraint(fields=["network", "name"], name="one_client_a_name")]

    def __str__(self) -> str:
        return self.name


class SubscriptionState(models.TextChoices):
    ACTIVE = "active"
    SATISFIED = "satisfied"
    EXPIRED = "expired"
    REFUSED = "refused"


class Format(models.TextChoices):
    JSON = "json"
    CONTEXTML = "contextml"


class HostedSubscription(Delivered):
    """What a hosted consumer is subscribed to, and what became of its notifications."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    client = models.ForeignKey(HostedClient, on_delete=models.CASCADE, related_name="subscriptions")
    number = models.PositiveBigIntegerField(null=True, blank=True, help_text="Given by its consumer")
    scopes = models.JSONField(default=list)
    expression = models.JSONField(default=list, help_text="As nested lists")
    expires = models.DateTimeField()
    priority = models.PositiveSmallIntegerField(default=1)
    once = models.BooleanField(default=False)
    url = models.CharField(max_length=500, blank=True)
    format = models.CharField(max_length=10, choices=Format, default=Format.JSON, help_text="Of what the URL gets")
    state = models.CharField(max_length=10, choices=SubscriptionState, default=SubscriptionState.ACTIVE)
    reason = models.TextField(blank=True, help_text="Why it was refused")
    created = models.DateTimeField(default=timezone.now, editable=False)
    ended = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created", "id"]
        constraints = [models.UniqueConstraint(fields=["client", "number"], name="one_subscription_a_number")]
        indexes = [models.Index(fields=["state", "expires"])]

    def __str__(self) -> str:
        return f"subscription {self.id}"
