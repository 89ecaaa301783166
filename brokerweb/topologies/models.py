"""Models of topologies, their nodes and links."""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id
from overlay.core import links as overlay_links
from overlay.core.link_shapes import more_in_words
from overlay.topologies.graph import MAX_NAME


class Topology(models.Model):
    """Brokers and links. Links are stored, so that they do not depend on the generator."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=40)
    brokers = models.PositiveIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(settings.MAX_BROKERS)], help_text="Number of brokers"
    )
    params = models.JSONField(default=dict, blank=True, help_text="Parameters of the generator")
    seed = models.PositiveBigIntegerField(default=0)
    measures = models.JSONField(default=dict, editable=False)
    version = models.PositiveIntegerField(default=0, editable=False, help_text="Version number of the rows")
    sketch = models.TextField(blank=True, editable=False, help_text="Sketch for lists: see pictures.sketch")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "topologies"

    def __str__(self) -> str:
        return self.name


class Node(models.Model):
    """Position and name of a broker."""

    topology = models.ForeignKey(Topology, related_name="nodes", on_delete=models.CASCADE)
    index = models.PositiveIntegerField()
    name = models.CharField(max_length=MAX_NAME, blank=True)
    x = models.FloatField(null=True, blank=True)
    y = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["topology", "index"], name="one_node_per_index")]

    def __str__(self) -> str:
        return self.name or f"broker {self.index}"


class Link(models.Model):
    """An undirected link between brokers ``a`` and ``b`` with its conditions (``overlay.core.links``)."""

    topology = models.ForeignKey(Topology, related_name="links", on_delete=models.CASCADE)
    a = models.PositiveIntegerField()
    b = models.PositiveIntegerField()
    delay_ms = models.FloatField(default=0, validators=[MinValueValidator(0)])
    jitter_ms = models.FloatField(default=0, validators=[MinValueValidator(0)])
    loss = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(1)])
    loss_burst = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(1000)])
    loss_burst_limit = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(1000)])
    duplication = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(1)])
    reordering = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(1)])
    reordering_ms = models.FloatField(default=50, validators=[MinValueValidator(0)])
    corruption = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(1)])
    rate_bytes_per_s = models.FloatField(default=0, validators=[MinValueValidator(0)])
    queue_bytes = models.PositiveIntegerField(default=131_072, validators=[MinValueValidator(65_507)])

    class Meta:
        ordering = ["a", "b"]
        constraints = [models.UniqueConstraint(fields=["topology", "a", "b"], name="one_link_per_pair")]

    def __str__(self) -> str:
        return f"{self.a}–{self.b}"

    def to_link(self) -> overlay_links.Link:
        """The link without validation."""
        return overlay_links.Link(self.a, self.b, *(getattr(self, info.name) for info in overlay_links.LINK_SETTINGS))

    @property
    def more(self) -> str:
        """Conditions other than delay, jitter and loss, as text."""
        return more_in_words(self.to_link())


class TopologyVersion(models.Model):
    """A version of a topology; every save with changes creates one."""

    topology = models.ForeignKey(Topology, related_name="versions", on_delete=models.CASCADE)
    number = models.PositiveIntegerField(help_text="From 1; gaps where old versions were thinned out")
    document = models.JSONField(help_text="See versions.document_of")
    size = models.PositiveIntegerField(default=0, help_text="Bytes of the document")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(default=timezone.now, editable=False)
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["topology", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"{self.topology.name}, version {self.number}"
