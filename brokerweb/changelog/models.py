"""Who changed what, and when."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.origin import SOURCES


class Change(models.Model):
    """One change of one object. Names are as they were then: the object and the account may be gone."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="changes"
    )
    who = models.CharField(max_length=150, blank=True, help_text="Name of the account; empty: no account")
    token = models.CharField(max_length=25, blank=True, help_text="Prefix of the token, if by one")
    source = models.CharField(max_length=10, choices=[(name, name) for name in SOURCES])
    request_id = models.CharField(max_length=64, blank=True)
    kind = models.CharField(max_length=20, help_text="Of the object")
    object_id = models.CharField(max_length=40)
    name = models.CharField(max_length=200, blank=True, help_text="Of the object")
    action = models.CharField(max_length=30)
    before = models.JSONField(default=dict, help_text="Values that changed, as they were")
    after = models.JSONField(default=dict, help_text="The same as they are since; and what else the change says")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["kind", "object_id"]), models.Index(fields=["request_id"])]

    def __str__(self) -> str:
        return f"{self.action} {self.kind} {self.name}"
