"""Bodies of reports and schedules."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.resources import MARK_HELP
from brokerweb.api.shapes.fields import LIST_OF_OBJECTS, Body
from brokerweb.kit import etags
from brokerweb.reports import schedules
from brokerweb.reports.models import FiringOutcome, Report, ReportKind, Schedule, ScheduleKind
from brokerweb.reports.services import own_runs


class ReportBody(Body):
    kind = serializers.ChoiceField(choices=ReportKind.choices, default=ReportKind.COMPARISON)
    runs = serializers.ListField(child=serializers.CharField(max_length=20), required=False, max_length=5_000)
    experiments = serializers.ListField(child=serializers.CharField(max_length=20), required=False, max_length=500)
    while_measuring = serializers.BooleanField(
        required=False, default=False, help_text="Compute even while a run is measured, which disturbs the measurement"
    )


class ReportSummarySerializer(serializers.ModelSerializer):
    owner: Any = serializers.CharField(source="owner.username", default="")
    runs = serializers.SerializerMethodField()
    experiments: Any = serializers.SlugRelatedField(many=True, read_only=True, slug_field="id")

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_runs(self, report: Report) -> list[str]:
        context: Any = self.context  # read once per list: a report may cover thousands of runs
        if "runs_of_reports" not in context:
            shown: Any = self.parent.instance if self.parent else [report]
            context["runs_of_reports"] = own_runs(shown)
        return context["runs_of_reports"][report.pk]

    class Meta:
        model = Report
        fields = [
            "id",
            "kind",
            "state",
            "reason",
            "progress",
            "runs",
            "experiments",
            "schedule",
            "while_measuring",
            "owner",
        ]
        fields += ["created", "started_at", "ended_at"]


class ReportSerializer(ReportSummarySerializer):
    charts = serializers.SerializerMethodField()
    configurations = serializers.SerializerMethodField(help_text="Rows of the report's tables")

    class Meta(ReportSummarySerializer.Meta):
        fields = [*ReportSummarySerializer.Meta.fields, "charts", "configurations"]

    @extend_schema_field(LIST_OF_OBJECTS)
    def get_charts(self, report: Report) -> Any:
        return report.result.get("charts", [])

    @extend_schema_field(LIST_OF_OBJECTS)
    def get_configurations(self, report: Report) -> Any:
        return report.result.get("configurations", [])


class ScheduleBody(Body):
    name = serializers.CharField(max_length=100)
    kind = serializers.ChoiceField(
        choices=ScheduleKind.choices,
        default=ScheduleKind.COMPARISON,
        help_text="comparison creates a report of the experiments, launch launches them",
    )
    experiments = serializers.ListField(child=serializers.CharField(max_length=20), max_length=500)
    crontab = serializers.CharField(required=False, default="", allow_blank=True, help_text="Five fields, in UTC")
    every_s = serializers.IntegerField(required=False, allow_null=True, default=None, max_value=31_536_000)
    enabled = serializers.BooleanField(required=False, default=True)


class ScheduleChange(Body):
    name = serializers.CharField(required=False, max_length=100)
    experiments = serializers.ListField(child=serializers.CharField(max_length=20), required=False, max_length=500)
    crontab = serializers.CharField(required=False, default="", allow_blank=True)
    every_s = serializers.IntegerField(required=False, allow_null=True, default=None, max_value=31_536_000)
    enabled = serializers.BooleanField(required=False, allow_null=True, default=None)


class ScheduleSerializer(serializers.ModelSerializer):
    experiments: Any = serializers.SlugRelatedField(many=True, read_only=True, slug_field="id")
    crontab = serializers.CharField()
    every_s = serializers.IntegerField(allow_null=True)
    hours = serializers.CharField(help_text="Times in words")
    enabled = serializers.BooleanField(source="periodic_task.enabled")
    next = serializers.ListField(child=serializers.DateTimeField(), help_text="The next three times")
    owner: Any = serializers.CharField(source="owner.username", default="")
    mark = serializers.SerializerMethodField(help_text=MARK_HELP)

    class Meta:
        model = Schedule
        fields = ["id", "name", "kind", "experiments", "crontab", "every_s", "hours", "enabled", "next"]
        fields += ["owner", "created", "mark"]

    def get_mark(self, schedule: Schedule) -> str:
        return etags.mark(schedules.stored(schedule))


class FiringSerializer(serializers.Serializer):
    """One execution of a schedule and its result."""

    at = serializers.DateTimeField()
    by = serializers.CharField(source="by.username", default="", help_text="Empty: executed by the schedule itself")
    outcome = serializers.ChoiceField(choices=FiringOutcome.choices)
    sentence = serializers.CharField(help_text="Reason if nothing was done")
    report = serializers.CharField(source="report_id", allow_null=True)
    runs: Any = serializers.DictField(
        source="counts",
        child=serializers.IntegerField(),
        help_text="Number of launched runs by state",
    )
