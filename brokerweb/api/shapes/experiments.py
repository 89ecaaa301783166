"""Bodies of experiments and runs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from brokerweb.api.resources import MARK_HELP
from brokerweb.api.shapes.fields import OBJECT, Body, ObjectField, ObjectsField
from brokerweb.api.shapes.links import FaultsField
from brokerweb.experiments import evaluation, labels
from brokerweb.experiments.models import Experiment, Run
from brokerweb.experiments.queue_position import Queue, QueuePosition
from brokerweb.experiments.results import verdicts
from brokerweb.experiments.services import runs_by_state
from brokerweb.kit import etags
from overlay.systems.registry import FIRST, SYSTEMS
from telemetry.lake.repeats import DIFFERENT, IDENTICAL, NOT_COMPARABLE
from telemetry.systems.registry import measures_of

JUDGED = ("passed", "broken", "left")


class ExperimentBody(serializers.Serializer):
    """Every workload field, setting and topology can be a list (a sweep); see ``overlay.experiment.sweeps``."""

    name = serializers.CharField()
    topology = serializers.JSONField(
        required=False, help_text="An id, a name, an object ({kind, brokers, …}), or a list of those"
    )
    system = serializers.CharField(required=False, default=FIRST)
    engine = serializers.CharField(required=False, default="live")
    settings = ObjectField(required=False)
    workload = ObjectField(required=False)
    faults = FaultsField(required=False)
    simulation = ObjectField(required=False)
    record_mb = serializers.IntegerField(required=False, default=0, help_text="Recording size per server, MB")
    thresholds = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text='Conditions a run must meet: "p95 < 2ms", "not_found = 0"',
    )
    blocks = ObjectsField(required=False)
    replicates = serializers.IntegerField(required=False, default=1)
    seed = serializers.IntegerField(required=False, default=0)
    report_when_done = serializers.BooleanField(required=False, default=False)


class ExperimentSerializer(serializers.ModelSerializer):
    """The fields of the definition at the top level, as sent."""

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
    runs = serializers.SerializerMethodField(help_text="Number of runs by state")
    judged = serializers.SerializerMethodField(
        help_text="Number of runs that passed, broke a threshold or are not evaluated; null without thresholds"
    )
    mark = serializers.SerializerMethodField(help_text=MARK_HELP)

    class Meta:
        model = Experiment
        fields = ["id", "name", "topology", "system", "engine", "settings", "workload", "faults", "simulation"]
        fields += ["record_mb", "thresholds", "blocks", "replicates", "seed"]
        fields += ["report_when_done", "demo", "study", "scale", "owner", "created", "runs", "judged", "mark"]

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_runs(self, experiment: Experiment) -> dict[str, int]:
        context: Any = self.context  # counted once per list
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
        return etags.mark(evaluation.stored(experiment))


@extend_schema_serializer(component_name="LaunchEstimate")
class EstimateSerializer(serializers.Serializer):
    engine = serializers.CharField()
    configurations = serializers.IntegerField()
    replicates = serializers.IntegerField()
    count = serializers.IntegerField(help_text="Number of runs of a launch")
    estimated_s = serializers.FloatField(help_text="Seconds they take, without the queue")
    basis = serializers.CharField(help_text="Basis of the estimate for simulated runs; empty for live runs")
    axes = ObjectField()
    runs_ahead = serializers.IntegerField(help_text="Unfinished runs ahead in the queue")
    ahead_s = serializers.FloatField(help_text="Seconds until those have ended")
    disk_bytes = serializers.FloatField()
    to_make = serializers.ListField(
        child=serializers.CharField(), help_text="Names of topologies created with the experiment"
    )
    warning = serializers.CharField(help_text="Warning before the launch; empty if none")


class CancelledSerializer(serializers.Serializer):
    cancelled = serializers.IntegerField(help_text="Number of cancelled runs")


class PresetSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    engine = serializers.CharField()
    configurations = serializers.IntegerField()
    runs = serializers.IntegerField()
    definition = ObjectField(help_text="A body of POST /api/experiments/ with inline topologies")


class LaunchBody(Body):
    if_runs: Any = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="Launch only if the experiment has this many runs, not counting what-if runs; else 409. Makes a "
        "repeated request, sent because the response was lost, launch only once.",
    )
    skip_existing: Any = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Leave out every run for which a finished one stands: same configuration, seed and code",
    )


class StandSerializer(serializers.Serializer):
    """A run that was not launched, as a finished one has its configuration, seed and code."""

    configuration_hash = serializers.CharField()
    replicate = serializers.IntegerField()
    run = serializers.CharField(help_text="Id of the finished run")
    verdict = serializers.CharField(help_text="valid or suspect")


class LaunchSerializer(serializers.Serializer):
    runs = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    estimated_s = serializers.FloatField()


class SkippingLaunchSerializer(LaunchSerializer):
    skipped = StandSerializer(many=True)


class RunSummarySerializer(serializers.ModelSerializer):
    """A run in a list. Configuration and complete summary are part of the run itself."""

    experiment: Any = serializers.CharField(source="experiment_id")
    experiment_name = serializers.CharField(source="experiment.name")
    topology = serializers.CharField(source="topology_name", read_only=True)
    engine = serializers.CharField(read_only=True, help_text="live, or simulated (virtual time)")
    eta_s = serializers.SerializerMethodField(help_text="Seconds until it ends; null if no worker responds")
    waiting_for = serializers.SerializerMethodField()
    seed: Any = serializers.SerializerMethodField(help_text="64 bits")
    verdict_reasons = serializers.ListField(child=serializers.CharField())
    tags = serializers.SerializerMethodField()
    thresholds = ObjectsField(
        read_only=True, help_text="The experiment's thresholds, evaluated: text, value, held, why"
    )
    mark = serializers.SerializerMethodField(help_text="Mark of the current tags and note; send it as If-Match")
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
        context: Any = self.context  # one queue per list
        if "queue" not in context:
            context["queue"] = Queue()
        return context["queue"].position(run)

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "number", "nullable": True}})
    def get_figures(self, run: Run) -> dict[str, float | None]:
        return {name: run.figures.get(measure.key) for name, measure in measures_of(run.system).items()}

    def get_tags(self, run: Run) -> list[str]:
        return labels.tags_of(run)

    def get_mark(self, run: Run) -> str:
        return etags.mark(labels.written(run))

    def get_eta_s(self, run: Run) -> float | None:
        return self._queue_position(run).eta_s

    def get_waiting_for(self, run: Run) -> str:
        return self._queue_position(run).waiting_for

    def get_seed(self, run: Run) -> int:
        return int(run.seed)


class RepeatSerializer(serializers.Serializer):
    """Comparison of a simulated run with the run that it repeats."""

    run = serializers.CharField()
    digest = serializers.CharField(help_text="Digest of that run; empty if it did not finish")
    outcome = serializers.ChoiceField(choices=(IDENTICAL, DIFFERENT, NOT_COMPARABLE))
    why = serializers.CharField(help_text="Reason they are not comparable; empty if they are")


class SimulatedSerializer(serializers.Serializer):
    """Result of the simulation."""

    digest = serializers.CharField(help_text="BLAKE2b of every datagram delivered")
    events = serializers.IntegerField()
    simulated_s = serializers.FloatField(help_text="Virtual seconds")
    computed_s = serializers.FloatField(help_text="Seconds of one core")
    was_kept = serializers.BooleanField(help_text="Whether the result is a cached one")
    was_stopped = serializers.BooleanField(help_text="The digest is then that of the cached result")
    unmeasured = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Roles and units of work without measured service times, for which default costs were used",
    )
    repeat = serializers.SerializerMethodField()

    @extend_schema_field(RepeatSerializer(allow_null=True))
    def get_repeat(self, simulated: dict[str, Any]) -> dict[str, Any] | None:
        return simulated.get("repeat") or None


class RunSerializer(RunSummarySerializer):
    simulated = serializers.SerializerMethodField(help_text="Null for live runs and until a simulated run has ended")
    configuration = serializers.SerializerMethodField(help_text="The exact configuration, with seed")
    summary = ObjectField(read_only=True)
    remark = serializers.SerializerMethodField(help_text="Remark on its figures; empty if none")

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
    process = serializers.CharField(help_text="broker-3, supervisor, …; empty for state changes of the run")
    name = serializers.CharField()
    detail = serializers.CharField(help_text="Reason; may be empty")
    data: Any = ObjectField(help_text="Further data reported by the process")
