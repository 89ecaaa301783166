"""REST endpoints of reports and schedules."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.resources import IF_MATCH, Resource, chosen, created, seen
from brokerweb.api.shapes import reports as shapes
from brokerweb.api.tables import a_table, format_parameter
from brokerweb.experiments.models import Experiment
from brokerweb.kit.streams import download, file_chunks
from brokerweb.kit.tables import JSON, checked, written
from brokerweb.kit.tables import download as taken_away
from brokerweb.reports import schedules, tables
from brokerweb.reports import services as reports
from brokerweb.reports.models import Firing, Report, ReportState, Schedule
from telemetry.charts.standalone import POLICY


class ReportViewSet(Resource):
    queryset = Report.objects.select_related("owner").prefetch_related(
        Prefetch("experiments", Experiment.objects.only("id"))
    )
    serializer_class = shapes.ReportSerializer
    summary_serializer = shapes.ReportSummarySerializer
    filterset_fields = {"kind": ["exact"], "state": ["exact", "in"], "experiments": ["exact"], "schedule": ["exact"]}
    ordering_fields = ["created", "state", "ended_at"]

    def get_queryset(self) -> QuerySet[Report]:
        rows = super().get_queryset()
        return rows.defer("result") if self.action == "list" else rows

    @extend_schema(request=shapes.ReportBody, responses={201: shapes.ReportSerializer})
    def create(self, request: Request) -> Response:
        """Create a report; Spark computes it."""
        body = self.parsed(shapes.ReportBody)
        report = reports.create(
            kind=body["kind"],
            runs=chosen(reports.light_runs(), body.get("runs", []), "runs"),
            experiments=chosen(Experiment.objects.all(), body.get("experiments", []), "experiments"),
            owner=self.user,
            while_measuring=body["while_measuring"],
        )
        return self.shown(report, 201)

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a report and its files; 409 while it is queued or computed. Its runs are kept."""
        reports.delete(self.get_object())
        return Response(status=204)

    @extend_schema(request=None, responses=shapes.ReportSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel the report."""
        return self.shown(reports.cancel(self.get_object()))

    @extend_schema(
        operation_id="reports_configurations",
        parameters=[format_parameter("Default: json")],
        responses=a_table(),
        filters=False,
    )
    @action(detail=True)
    def configurations(self, request: Request, pk: str) -> HttpResponseBase:
        """Results by configuration, one row each: settings, figures with intervals, outcomes, memory and published
        values. The complete result also has charts and provenance.
        """
        form, report = checked(request.query_params.get("format", JSON)), self.get_object()
        if report.state != ReportState.DONE:
            raise NotFound(f"This report is {report.state}. Its table is available when it is done.")
        content = written(tables.configurations(report.result), form)
        return taken_away(content, form, f"report-{report.pk}-configurations")

    @extend_schema(responses={(200, "text/html"): OpenApiTypes.STR}, filters=False)
    @action(detail=True)
    def html(self, request: Request, pk: str) -> HttpResponseBase:
        """The report as one self-contained HTML file."""
        report = self.get_object()
        path = reports.html_file(report)
        if path is None:
            raise NotFound(f"This report is {report.state}. Its file is available when it is done.")
        response = download(request, file_chunks(path), f"report-{report.pk}.html", "text/html; charset=utf-8")
        response["Content-Disposition"] = f'inline; filename="report-{report.pk}.html"'
        # The file has its own scripts and needs no access to the network or to this origin's cookies.
        response["Content-Security-Policy"] = f"sandbox allow-scripts allow-downloads; {POLICY}"
        return response


class ScheduleViewSet(Resource):
    queryset = (
        schedules.with_hours()
        .select_related("owner")
        .prefetch_related(Prefetch("experiments", Experiment.objects.only("id")))
    )
    serializer_class = shapes.ScheduleSerializer
    further_lists = {"history": shapes.FiringSerializer}
    filterset_fields = {"name": ["exact", "icontains"], "experiments": ["exact"]}
    ordering_fields = ["name", "created"]

    def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
        if args:
            many = kwargs.get("many", False)
            for schedule in args[0] if many else [args[0]]:
                dress(schedule)
        return super().get_serializer(*args, **kwargs)

    @extend_schema(request=shapes.ScheduleBody, responses={201: shapes.ScheduleSerializer})
    def create(self, request: Request) -> Response:
        body = self.parsed(shapes.ScheduleBody)
        body["experiments"] = chosen(Experiment.objects.all(), body["experiments"], "experiments")
        return self.shown(dress(schedules.create(**body, owner=self.user)), 201)

    @extend_schema(request=shapes.ScheduleChange, responses=shapes.ScheduleSerializer, parameters=[IF_MATCH])
    def partial_update(self, request: Request, pk: str) -> Response:
        body = self.parsed(shapes.ScheduleChange)
        if "experiments" in body:
            body["experiments"] = chosen(Experiment.objects.all(), body["experiments"], "experiments")
        return self.shown(dress(schedules.change(self.get_object(), **body, seen=seen(request))))

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        schedules.delete(self.get_object())
        return Response(status=204)

    @extend_schema(operation_id="schedules_fire", request=None, responses={201: shapes.FiringSerializer})
    @action(detail=True, methods=["post"])
    def fire(self, request: Request, pk: str) -> Response:
        """Run the schedule now and return the result."""
        firing = schedules.fire(self.get_object().pk, self.user)
        if firing is None:
            raise NotFound("This schedule was deleted.")
        shown = schedules.dressed(Firing.objects.filter(pk=firing.pk))
        return created(shapes.FiringSerializer(shown[0]).data, self.reverse_action("history", args=[pk]))

    @extend_schema(operation_id="schedules_history", responses=shapes.FiringSerializer(many=True), filters=False)
    @action(detail=True)
    def history(self, request: Request, pk: str) -> Response:
        """The last 200 executions, newest first."""
        page = self.paginate_queryset(self.get_object().firings.all())
        firings = schedules.dressed(Firing.objects.filter(pk__in=[one.pk for one in page or []]))
        return self.get_paginated_response(shapes.FiringSerializer(firings, many=True).data)


def dress(schedule: Schedule) -> Schedule:
    """Adds its times in words for the serializer."""
    schedule.crontab, schedule.every_s = schedules.words(schedule)  # type: ignore[attr-defined]
    schedule.hours = schedules.in_words(schedule)  # type: ignore[attr-defined]
    schedule.next = schedules.next_times(schedule, timezone.now())  # type: ignore[attr-defined]
    return schedule
