"""Rights of accounts beyond their role, and API tokens.

Users are Django's own. Their role is in two of its columns: staff are operators, and staff that are superusers are
administrators. All others are viewers, or guests if they have a row here (``brokerweb.accounts.asking.role_of``).
"""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import models
from knox.models import AbstractAuthToken

from brokerweb.accounts.rights import Level
from brokerweb.kit.ids import new_id


def all_networks() -> models.QuerySet[Any]:
    """Every network. By name: networks are above accounts, which only know that they exist."""
    return apps.get_model("networks", "Network")._default_manager.all()


class Guest(models.Model):
    """An account without a role: it sees only the networks that it was given."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE)

    def __str__(self) -> str:
        return str(self.user)


class Identity(models.Model):
    """Who an account is at an OpenID provider."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identity")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_a_subject")]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class NetworkRight(models.Model):
    """What an account may do on one network beyond its role."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="network_rights")
    network = models.ForeignKey("networks.Network", on_delete=models.CASCADE, related_name="rights")
    level = models.CharField(max_length=5, choices=[(level.value, level.value) for level in Level])

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "network"], name="one_right_a_network")]

    def __str__(self) -> str:
        return f"{self.level} on {self.network}"


class Scope(models.TextChoices):
    READ = "read", "read-only"
    WRITE = "write", "read-write"


class Token(AbstractAuthToken):
    """A REST API token; only its digest is stored."""

    id: Any = models.CharField(max_length=20, unique=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, blank=True)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.WRITE)
    networks = models.JSONField(null=True, blank=True, help_text="Ids of the networks that it is limited to; null: all")
    last_used = models.DateTimeField(null=True, blank=True, editable=False, help_text="To the minute")

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.token_key}… of {self.user}"
