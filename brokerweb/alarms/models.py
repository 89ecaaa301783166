"""Alarms of networks, and the log of what they did."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brokerweb.alarms.measures import MEASURES
from brokerweb.alarms.rules import COMPARISONS, State
from brokerweb.kit.ids import new_id
from brokerweb.networks.models import Network

STATES = [(state.value, state.value) for state in State]


class Alarm(models.Model):
    """A rule on a measure of a network, and its state."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="alarms")
    measure = models.CharField(max_length=20, choices=[(one.name, one.title) for one in MEASURES.values()])
    comparison = models.CharField(max_length=5, choices=[(one, one) for one in COMPARISONS])
    value = models.FloatField(help_text="Threshold, in the unit of the measure")
    clears = models.FloatField(help_text="Value at which it is well again")
    for_s = models.PositiveIntegerField(help_text="For how long, before it fires and before it is resolved")
    broker = models.PositiveIntegerField(null=True, blank=True, help_text="Index of a broker; null: all together")
    state = models.CharField(max_length=10, choices=STATES, default=State.QUIET.value, editable=False)
    since = models.DateTimeField(default=timezone.now, editable=False, help_text="Begin of its state")
    seen = models.FloatField(null=True, blank=True, editable=False, help_text="The measure when its state changed")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["created", "id"]

    def __str__(self) -> str:
        measure = MEASURES[self.measure]
        what = f"{measure.title} {self.comparison} {measure.write(self.value)}"
        return f"{what} for {self.lasts}" if self.for_s else what

    @property
    def lasts(self) -> str:
        """``for_s`` in the largest unit in which it is whole."""
        unit, size = next((unit, size) for unit, size in (("h", 3600), ("min", 60), ("s", 1)) if self.for_s % size == 0)
        return f"{self.for_s // size}\u202f{unit}"


class AlarmEvent(models.Model):
    """One change of an alarm's state. The alarm may have been deleted since."""

    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="alarm_events")
    alarm = models.CharField(max_length=20, help_text="Id of the alarm")
    at = models.DateTimeField(db_index=True)
    state = models.CharField(max_length=10, choices=STATES)
    rule = models.CharField(max_length=200, help_text="The rule in words")
    value = models.FloatField(null=True, blank=True, help_text="The measure then; null: the network was stopped")
    words = models.CharField(max_length=300)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["network", "-id"])]

    def __str__(self) -> str:
        return self.words
