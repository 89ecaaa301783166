"""Experiments, their runs and the runs' events."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils import timezone

from brokerweb.kit.ids import new_id
from overlay.core.engines import SIMULATED
from telemetry.systems.registry import measures_of


class Experiment(models.Model):
    """A definition: topology, system, settings and workload, each possibly swept, and the number of replicates."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    name = models.CharField(max_length=200)
    definition = models.JSONField(help_text="The body of POST /api/experiments/, with its defaults filled in")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)
    demo = models.BooleanField(default=False)
    report_when_done = models.BooleanField(
        default=False, help_text="Create a comparison report when its runs have ended"
    )
    study = models.CharField(max_length=20, blank=True, help_text="Id of the study that it was launched by, or empty")
    scale = models.CharField(max_length=10, blank=True, help_text="At which that study was launched")

    class Meta:
        ordering = ["-created"]
        indexes = [models.Index(fields=["-created"]), models.Index(fields=["study", "-created"])]

    def __str__(self) -> str:
        return self.name


class RunState(models.TextChoices):
    """States of a run, as shown everywhere."""

    QUEUED = "queued"
    LAUNCHING = "launching"
    WARMING = "warming"
    MEASURING = "measuring"
    COLLECTING = "collecting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Tag(models.Model):
    """A label of runs, for searching."""

    name = models.SlugField(max_length=40, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class RunQuerySet(models.QuerySet["Run"]):
    def unchanged(self) -> "RunQuerySet":
        """Without what-if runs, which aggregates exclude unless requested."""
        return self.filter(change={})

    def changed(self) -> "RunQuerySet":
        """What-if runs only. Identified by the change, which is kept when the original run is deleted."""
        return self.exclude(change={})


class Run(models.Model):
    """One execution of a configuration with one seed. The row holds the state; tasks only advance it."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    experiment = models.ForeignKey(Experiment, related_name="runs", on_delete=models.CASCADE)
    position = models.PositiveIntegerField(default=0, help_text="Position in the launch's random order")
    configuration = models.JSONField(help_text="Topology with its links, system, engine, settings and workload")
    configuration_hash = models.CharField(max_length=32, db_index=True)
    engine = models.GeneratedField(
        expression=KT("configuration__engine"), output_field=models.CharField(max_length=10), db_persist=True
    )
    # Fields for lists and filters are separate columns: the document may contain half a million links.
    system = models.GeneratedField(
        expression=KT("configuration__system"), output_field=models.CharField(max_length=40), db_persist=True
    )
    topology_kind = models.GeneratedField(
        expression=KT("configuration__topology__kind"), output_field=models.CharField(max_length=40), db_persist=True
    )
    topology_name = models.GeneratedField(
        expression=KT("configuration__topology__name"), output_field=models.CharField(max_length=200), db_persist=True
    )
    brokers = models.GeneratedField(
        expression=Cast(KT("configuration__topology__brokers"), models.IntegerField()),
        output_field=models.IntegerField(null=True),
        db_persist=True,
    )
    strategy = models.GeneratedField(
        expression=models.Case(
            models.When(configuration__settings__arm="structured", then=models.Value("structured")),
            default=KT("configuration__settings__search"),
            output_field=models.CharField(max_length=20),
        ),
        output_field=models.CharField(max_length=20),
        db_persist=True,
    )
    replicate = models.PositiveIntegerField(default=0)
    seed = models.CharField(max_length=20, help_text="64 bits, decimal; more than SQLite's signed integers hold")
    rerun_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="reruns")
    compared_with = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="variations",
        help_text="The original of a what-if run",
    )
    change = models.JSONField(
        default=dict, blank=True, help_text="The change of a what-if run: see overlay.experiment.whatif"
    )
    estimated_s = models.FloatField(default=0, help_text="From launch to result, as estimated at launch")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    state = models.CharField(max_length=10, choices=RunState, default=RunState.QUEUED, db_index=True)
    progress = models.FloatField(default=0)
    reason = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    stopped = models.CharField(max_length=10, blank=True, help_text="Final state after collecting, if not done")
    verdict = models.CharField(max_length=10, blank=True, help_text="valid or suspect")
    verdict_reasons = models.JSONField(default=list, blank=True)
    summary = models.JSONField(default=dict, blank=True)
    figures = models.JSONField(
        default=dict,
        blank=True,
        help_text="Values of its measures by key, from its summary",
    )
    thresholds = models.JSONField(
        default=list, blank=True, help_text="The experiment's thresholds, evaluated: [{text, value, held}]"
    )
    passed = models.BooleanField(null=True, blank=True, help_text="Whether all thresholds passed; none: not evaluated")
    observed = models.JSONField(default=dict, blank=True, help_text="The supervisor's last report")

    tags = models.ManyToManyField(Tag, related_name="runs", blank=True)
    note = models.TextField(blank=True, max_length=4_000, help_text="A note by users")
    kept = models.BooleanField(default=False, help_text="Exempt from retention")
    files_removed = models.DateTimeField(null=True, blank=True, help_text="When retention deleted its files")

    host = models.CharField(max_length=100, blank=True)
    lease_owner = models.CharField(max_length=120, blank=True)
    lease_epoch = models.PositiveIntegerField(default=0)
    lease_expires = models.DateTimeField(null=True, blank=True)
    collect_attempts = models.PositiveIntegerField(default=0)
    asked_at = models.DateTimeField(
        null=True, blank=True, help_text="When its task (launch, collect or simulate) was last queued"
    )

    objects = RunQuerySet.as_manager()

    created = models.DateTimeField(default=timezone.now, editable=False)
    launched_at = models.DateTimeField(null=True, blank=True)
    measuring_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True, help_text="Expected end of measuring")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created", "position"]
        indexes = [
            models.Index(fields=["state", "created", "position"]),
            models.Index(fields=["engine", "state", "created", "position"]),
            models.Index(fields=["state", "-ended_at"]),
            models.Index(fields=["-created", "position"]),
            models.Index(fields=["verdict", "-created", "position"]),
            models.Index(fields=["experiment", "-created", "position"]),
        ]

    def __str__(self) -> str:
        return f"{self.experiment.name} · {self.id}"

    def figure(self, name: str) -> float | None:
        """The value of a measure; ``None`` if not measured."""
        return self.figures.get(measures_of(self.system)[name].key)

    @classmethod
    def simulating(cls) -> models.QuerySet["Run"]:
        """Simulated runs claimed by a worker, including those not started."""
        left = (RunState.QUEUED, RunState.LAUNCHING, RunState.MEASURING, RunState.COLLECTING)
        return cls.objects.filter(engine=SIMULATED, state__in=left, lease_expires__gte=timezone.now())


class RunEvent(models.Model):
    """A state change of a run."""

    run = models.ForeignKey(Run, related_name="events", on_delete=models.CASCADE)
    at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=60)
    detail = models.TextField(blank=True)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return self.name


class SavedView(models.Model):
    """A named view of the list of runs or of a comparison: the query string of its URL."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="views", on_delete=models.CASCADE)
    page = models.CharField(max_length=20, help_text="Page: runs or compare")
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=2_000, blank=True, help_text="Query string of its URL")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "page", "name"], name="one_view_per_name")]

    def __str__(self) -> str:
        return self.name


class QueuePause(models.Model):
    """While a row exists, queued runs are not launched; active runs continue."""

    since = models.DateTimeField(default=timezone.now, editable=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    def __str__(self) -> str:
        return f"paused since {self.since:%Y-%m-%d %H:%M} UTC"
