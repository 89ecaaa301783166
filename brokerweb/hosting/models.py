"""Which process hosts the clients of a system; what rows of clients and subscriptions have in common."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id
from brokerweb.networks.models import Network


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


class OwnedClient(models.Model):
    """A client whose name is its owner's, in one network."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=64, help_text="Its owner's, in this network")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class OwnedSubscription(Delivered):
    """Of an ``OwnedClient``: the field ``client`` is a subclass's."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    url = models.CharField(max_length=500, blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"subscription {self.id}"
