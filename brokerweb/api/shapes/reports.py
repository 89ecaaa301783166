"""Shapes of reports and schedules."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.resources import MARK_HELP
from brokerweb.api.shapes.fields import LIST_OF_OBJECTS, Body
from brokerweb.kit import stale
from brokerweb.reports import schedules
from brokerweb.reports.models import FiringOutcome, Report, ReportKind, Schedule, ScheduleKind
from brokerweb.reports.services import own_runs


class ReportBody(Body):
    kind = serializers.ChoiceField(choices=ReportKind.choices, default=ReportKind.COMPARISON)
    runs = serializers.ListField(child=serializers.CharField(max_length=20), required=False, max_length=5_000)
    experiments = serializers.ListField(child=serializers.CharField(max_length=20), required=False, max_length=500)
    while_measuring = serializers.BooleanField(
        required=False, default=False, help_text="Compute even beside a measurement, which disturbs it"
    )


class ReportSummarySerializer(serializers.ModelSerializer):
    owner: Any = serializers.CharField(source="owner.username", default="")
    runs = serializers.SerializerMethodField()
    experiments: Any = serializers.SlugRelatedField(many=True, read_only=True, slug_field="id")

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_runs(self, report: Report) -> list[str]:
        context: Any = self.context  # read once for a whole list: a report may be of thousands
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
    configurations = serializers.SerializerMethodField(help_text="A row each: what the report's tables show")

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
        help_text="comparison orders a report of the experiments, launch launches them",
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
    hours = serializers.CharField(help_text="In words")
    enabled = serializers.BooleanField(source="periodic_task.enabled")
    next = serializers.ListField(child=serializers.DateTimeField(), help_text="The next three times")
    owner: Any = serializers.CharField(source="owner.username", default="")
    mark = serializers.SerializerMethodField(help_text=MARK_HELP)

    class Meta:
        model = Schedule
        fields = ["id", "name", "kind", "experiments", "crontab", "every_s", "hours", "enabled", "next"]
        fields += ["owner", "created", "mark"]

    def get_mark(self, schedule: Schedule) -> str:
        return stale.mark(schedules.stored(schedule))


class FiringSerializer(serializers.Serializer):
    """One time that a schedule came, and what came of it."""

    at = serializers.DateTimeField()
    by = serializers.CharField(source="by.username", default="", help_text="Empty: the clock")
    outcome = serializers.ChoiceField(choices=FiringOutcome.choices)
    sentence = serializers.CharField(help_text="Why it did nothing, if it did nothing")
    report = serializers.CharField(source="report_id", allow_null=True)
    runs: Any = serializers.DictField(
        source="counts",
        child=serializers.IntegerField(),
        help_text="By state, how many runs it launched",
    )
