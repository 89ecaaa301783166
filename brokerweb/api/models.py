"""Answers to requests with an idempotency key."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id


class KeptAnswer(models.Model):
    """The answer to a request with a key, or that the request is being answered."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="kept_answers", on_delete=models.CASCADE)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=32, help_text="Of address, media type and body")
    claim = models.CharField(max_length=20, default=new_id, help_text="Names the request that may store the answer")
    begun = models.DateTimeField(default=timezone.now, db_index=True)
    status = models.PositiveSmallIntegerField(default=0, help_text="HTTP status; 0 while the request is being answered")
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=b"", help_text="Compressed by zlib")
    size = models.PositiveIntegerField(default=0, help_text="Of the compressed body, in bytes")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return self.key
