"""Shapes of experiments and runs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from brokerweb.api.resources import MARK_HELP
from brokerweb.api.shapes.fields import OBJECT, Body, ObjectField, ObjectsField
from brokerweb.api.shapes.links import FaultsField
from brokerweb.experiments import judging, labels
from brokerweb.experiments.models import Experiment, Run
from brokerweb.experiments.queue_position import Queue, QueuePosition
from brokerweb.experiments.results import verdicts
from brokerweb.experiments.services import runs_by_state
from brokerweb.kit import stale
from overlay.systems.registry import FIRST, SYSTEMS
from telemetry.lake.repeats import DIFFERENT, IDENTICAL, NOT_COMPARABLE
from telemetry.systems.registry import measures_of

JUDGED = ("passed", "broken", "left")


class ExperimentBody(serializers.Serializer):
    """Any workload field, setting or topology may be a list; see ``overlay.experiment.sweeps``."""

    name = serializers.CharField()
    topology = serializers.JSONField(
        required=False, help_text="An id or a name, an object that makes one ({kind, brokers, …}), or a list of those"
    )
    system = serializers.CharField(required=False, default=FIRST)
    engine = serializers.CharField(required=False, default="live")
    settings = ObjectField(required=False)
    workload = ObjectField(required=False)
    faults = FaultsField(required=False)
    simulation = ObjectField(required=False)
    record_mb = serializers.IntegerField(required=False, default=0, help_text="MB that each broker may record")
    thresholds = serializers.ListField(
        child=serializers.CharField(), required=False, help_text='What each run must keep: "p95 < 2ms", "not_found = 0"'
    )
    blocks = ObjectsField(required=False)
    replicates = serializers.IntegerField(required=False, default=1)
    seed = serializers.IntegerField(required=False, default=0)
    report_when_done = serializers.BooleanField(required=False, default=False)


class ThresholdsBody(Body):
    """What of an experiment may change once it is made."""

    thresholds = serializers.ListField(
        child=serializers.CharField(allow_blank=True),
        help_text='All that each run must keep: ["p95 < 2ms", "not_found = 0"]; an empty list: nothing',
    )


class ExperimentSerializer(serializers.ModelSerializer):
    """The definition's fields on top, as they were sent."""

    owner: Any = serializers.CharField(source="owner.username", default="")
    topology: Any = serializers.JSONField(source="definition.topology", read_only=True)
    system: Any = serializers.CharField(source="definition.system", read_only=True)
    engine: Any = serializers.CharField(source="definition.engine", read_only=True)
    settings: Any = ObjectField(source="definition.settings", read_only=True)
    workload: Any = ObjectField(source="definition.workload", read_only=True)
    faults: Any = FaultsField(source="definition.faults", read_only=True, default=list)  # type: ignore[arg-type]
    simulation: Any = ObjectField(source="definition.simulation", read_only=True, default=dict)
    record_mb: Any = serializers.IntegerField(source="definition.record_mb", read_only=True, default=0)
    thresholds: Any = serializers.ListField(
        child=serializers.CharField(), source="definition.thresholds", read_only=True, default=list
    )
    blocks: Any = ObjectsField(source="definition.blocks", read_only=True)
    replicates: Any = serializers.IntegerField(source="definition.replicates", read_only=True)
    seed: Any = serializers.IntegerField(source="definition.seed", read_only=True)
    runs = serializers.SerializerMethodField(help_text="How many runs are in each state")
    judged = serializers.SerializerMethodField(
        help_text="How many runs kept its thresholds, broke one, and are not judged; null where it has none"
    )
    mark = serializers.SerializerMethodField(help_text=MARK_HELP)

    class Meta:
        model = Experiment
        fields = ["id", "name", "topology", "system", "engine", "settings", "workload", "faults", "simulation"]
        fields += ["record_mb", "thresholds", "blocks", "replicates", "seed"]
        fields += ["report_when_done", "demo", "study", "scale", "owner", "created", "runs", "judged", "mark"]

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_runs(self, experiment: Experiment) -> dict[str, int]:
        context: Any = self.context  # counted once for a whole list
        if "runs_by_state" not in context:
            shown: Any = self.parent.instance if self.parent else [experiment]
            context["runs_by_state"] = runs_by_state(shown)
        return context["runs_by_state"][experiment.pk]

    @extend_schema_field(
        {"type": "object", "nullable": True, "properties": {name: {"type": "integer"} for name in JUDGED}}
    )
    def get_judged(self, experiment: Experiment) -> dict[str, int] | None:
        context: Any = self.context
        if "verdicts" not in context:
            shown: Any = self.parent.instance if self.parent else [experiment]
            context["verdicts"] = verdicts(shown)
        found = context["verdicts"].get(experiment.pk)
        return found and {name: getattr(found, name) for name in JUDGED}

    def get_mark(self, experiment: Experiment) -> str:
        return stale.mark(judging.stored(experiment))


@extend_schema_serializer(component_name="LaunchEstimate")
class EstimateSerializer(serializers.Serializer):
    engine = serializers.CharField()
    configurations = serializers.IntegerField()
    replicates = serializers.IntegerField()
    count = serializers.IntegerField(help_text="Runs that a launch makes")
    estimated_s = serializers.FloatField(help_text="Seconds that they take by themselves")
    basis = serializers.CharField(help_text="What a simulated run's seconds are estimated from; empty for live ones")
    axes = ObjectField()
    runs_ahead = serializers.IntegerField(help_text="Runs that have not ended")
    ahead_s = serializers.FloatField(help_text="Seconds that those still take")
    disk_bytes = serializers.FloatField()
    to_make = serializers.ListField(
        child=serializers.CharField(), help_text="Names of topologies that are made with the experiment"
    )
    warning = serializers.CharField(help_text="What to know before launching; empty where there is nothing")


class CancelledSerializer(serializers.Serializer):
    cancelled = serializers.IntegerField(help_text="How many runs that were")


class PresetSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    engine = serializers.CharField()
    configurations = serializers.IntegerField()
    runs = serializers.IntegerField()
    definition = ObjectField(help_text="The body of POST /api/experiments/, its topologies in it")


class LaunchBody(Body):
    if_runs: Any = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="Launch only while the experiment has so many runs, those of what-ifs not counted; else 409. With it "
        "an order that is sent again, since its answer was lost, launches nothing twice.",
    )


class LaunchSerializer(serializers.Serializer):
    runs = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    estimated_s = serializers.FloatField()


class RunSummarySerializer(serializers.ModelSerializer):
    """A run in a list. The configuration and the whole summary are in the run itself."""

    experiment: Any = serializers.CharField(source="experiment_id")
    experiment_name = serializers.CharField(source="experiment.name")
    topology = serializers.CharField(source="topology_name", read_only=True)
    engine = serializers.CharField(read_only=True, help_text="live, or simulated: figures of virtual time")
    eta_s = serializers.SerializerMethodField(help_text="Seconds until it ends; null while no worker answers")
    waiting_for = serializers.SerializerMethodField()
    seed: Any = serializers.SerializerMethodField(help_text="64 bits")
    verdict_reasons = serializers.ListField(child=serializers.CharField())
    tags = serializers.SerializerMethodField()
    thresholds = ObjectsField(read_only=True, help_text="What its experiment demands, judged: text, value, held, why")
    mark = serializers.SerializerMethodField(help_text="Of its tags and its note, as they are; sent as If-Match")
    figures = serializers.SerializerMethodField(help_text="By name, in µs, bytes and shares; null: not measured")

    class Meta:
        model = Run
        fields = [
            "id",
            "experiment",
            "experiment_name",
            "topology",
            "engine",
            "configuration_hash",
            "position",
            "replicate",
            "seed",
        ]
        fields += [
            "state",
            "progress",
            "eta_s",
            "reason",
            "waiting_for",
            "cancel_requested",
            "verdict",
            "verdict_reasons",
        ]
        fields += ["topology_kind", "brokers", "strategy"]
        fields += ["passed", "thresholds", "figures", "tags", "note", "mark", "kept", "files_removed"]
        fields += ["host", "estimated_s", "rerun_of", "compared_with", "change"]
        fields += ["created", "launched_at", "measuring_at", "ended_at"]

    def _queue_position(self, run: Run) -> QueuePosition:
        context: Any = self.context  # one queue for a whole list
        if "queue" not in context:
            context["queue"] = Queue()
        return context["queue"].position(run)

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "number", "nullable": True}})
    def get_figures(self, run: Run) -> dict[str, float | None]:
        return {name: run.figures.get(measure.key) for name, measure in measures_of(run.system).items()}

    def get_tags(self, run: Run) -> list[str]:
        return labels.tags_of(run)

    def get_mark(self, run: Run) -> str:
        return stale.mark(labels.written(run))

    def get_eta_s(self, run: Run) -> float | None:
        return self._queue_position(run).eta_s

    def get_waiting_for(self, run: Run) -> str:
        return self._queue_position(run).waiting_for

    def get_seed(self, run: Run) -> int:
        return int(run.seed)


class RepeatSerializer(serializers.Serializer):
    """How a simulated run compares with the one that it repeats."""

    run = serializers.CharField()
    digest = serializers.CharField(help_text="Of that run; empty where it did not come to its end")
    outcome = serializers.ChoiceField(choices=(IDENTICAL, DIFFERENT, NOT_COMPARABLE))
    why = serializers.CharField(help_text="Why they are not comparable; empty where they are")


class SimulatedSerializer(serializers.Serializer):
    """What simulating it came to."""

    digest = serializers.CharField(help_text="BLAKE2b of every datagram delivered")
    events = serializers.IntegerField()
    simulated_s = serializers.FloatField(help_text="Virtual seconds")
    computed_s = serializers.FloatField(help_text="Seconds of one core, when it was computed")
    was_kept = serializers.BooleanField(help_text="Whether it had been simulated before and was only shown again")
    was_stopped = serializers.BooleanField(help_text="Its digest is then of what had been simulated")
    repeat = serializers.SerializerMethodField()

    @extend_schema_field(RepeatSerializer(allow_null=True))
    def get_repeat(self, simulated: dict[str, Any]) -> dict[str, Any] | None:
        return simulated.get("repeat") or None


class RunSerializer(RunSummarySerializer):
    simulated = serializers.SerializerMethodField(help_text="Null of a live run, and before a simulated one has ended")
    configuration = serializers.SerializerMethodField(help_text="Exactly what ran, with its seed")
    summary = ObjectField(read_only=True)
    remark = serializers.SerializerMethodField(help_text="What to know of its figures; empty where there is nothing")

    def get_remark(self, run: Run) -> str:
        return SYSTEMS[run.configuration["system"]].remark(run.summary)

    @extend_schema_field(SimulatedSerializer(allow_null=True))
    def get_simulated(self, run: Run) -> dict[str, Any] | None:
        found = run.observed.get("simulation") or {}
        return SimulatedSerializer(found).data if found.get("digest") else None

    @extend_schema_field(OBJECT)
    def get_configuration(self, run: Run) -> dict[str, Any]:
        return {**run.configuration, "seed": int(run.seed), "replicate": run.replicate}

    class Meta(RunSummarySerializer.Meta):
        fields = [*RunSummarySerializer.Meta.fields, "simulated", "configuration", "summary", "remark"]


class RunEventSerializer(serializers.Serializer):
    at = serializers.DateTimeField()
    process = serializers.CharField(help_text="broker-3, supervisor, …; empty where the run changed its state")
    name = serializers.CharField()
    detail = serializers.CharField(help_text="Why, in words; may be empty")
    data: Any = ObjectField(help_text="What else the process reported")
