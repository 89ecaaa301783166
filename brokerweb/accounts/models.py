"""API tokens. Users are Django's own: staff are operators with write access, all others are read-only."""

from typing import Any

from django.db import models
from knox.models import AbstractAuthToken

from brokerweb.kit.ids import new_id


class Scope(models.TextChoices):
    READ = "read", "read-only"
    WRITE = "write", "read-write"


class Token(AbstractAuthToken):
    """A REST API token; only its digest is stored."""

    id: Any = models.CharField(max_length=20, unique=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, blank=True)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.WRITE)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.token_key}… of {self.user}"
