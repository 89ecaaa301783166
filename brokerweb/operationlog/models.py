"""Operations on the context of networks, and the worst of them."""

from django.db import models

from brokerweb.operationlog.entries import OUTCOMES


class Done(models.Model):
    """One operation. Names are as they were then: account and network may be gone."""

    network = models.CharField(max_length=20, help_text="Its id")
    at = models.DateTimeField(help_text="When the request came")
    took_us = models.PositiveBigIntegerField(help_text="From the request to its answer, µs; of a batch, of all of it")
    who = models.CharField(max_length=150, blank=True, help_text="Name of the account; empty: not logged in")
    token = models.CharField(max_length=25, blank=True, help_text="Prefix of the token, if by one")
    via = models.CharField(max_length=10, help_text="Interface")
    op = models.CharField(max_length=10, help_text="get, put, delete, batch, or another one of the interface")
    key = models.TextField(blank=True, help_text="Names of what it is about, with | between")
    source = models.CharField(max_length=255, blank=True, help_text="Who supplied the data")
    status = models.PositiveSmallIntegerField(help_text="As in HTTP")
    outcome = models.CharField(max_length=12, choices=[(name, name) for name in OUTCOMES])
    server = models.PositiveIntegerField(null=True, blank=True, help_text="Index of the server that was asked")
    hops = models.PositiveIntegerField(null=True, blank=True)
    way = models.CharField(max_length=10, blank=True, help_text="How the server was chosen")
    trace = models.CharField(max_length=16, blank=True, help_text="Id of its walk, if traced")
    sentence = models.CharField(max_length=200, blank=True, help_text="Why it was not done")
    count = models.PositiveIntegerField(default=1, help_text="Above 1: so many operations are missing here")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.op} {self.key}: {self.outcome}"


class Operation(Done):
    """In the log, in the order in which they were written."""

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["network", "-id"])]


class WorstQuery(Done):
    """A query among the slowest or the failed of its network within a day."""

    is_failed = models.BooleanField()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "worst queries"
        indexes = [models.Index(fields=["network", "is_failed", "-took_us"])]
