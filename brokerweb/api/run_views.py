"""REST endpoints of runs: series, events, actions. Counterparts: ``run_brokers``, ``run_tables``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.resources import IDEMPOTENCY_KEY, IF_MATCH, Resource, seen
from brokerweb.api.run_brokers import RunBrokers
from brokerweb.api.run_lists import RunFilter, RunOrdering
from brokerweb.api.run_tables import RunTables
from brokerweb.api.shapes import experiments as shapes
from brokerweb.api.shapes import labels as label_shapes
from brokerweb.api.shapes import replays as replay_shapes
from brokerweb.api.shapes.labels import FILTER_HELP
from brokerweb.api.tables import a_table, format_parameter
from brokerweb.experiments import history, labels, whatif
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from brokerweb.kit.tables import CSV
from brokerweb.live import snapshots
from brokerweb.runlist import bulk, listing
from brokerweb.runlist.fields import FIGURES, RUN_FIELDS, SETTINGS
from brokerweb.runlist.filtering import runs_matching
from brokerweb.runlist.views import exported
from overlay.core.errors import InvalidSetting, shown

DOCUMENTS = ("configuration", "summary", "observed", "experiment__definition")


class RunViewSet(RunBrokers, RunTables, Resource):
    queryset = Run.objects.select_related("experiment").prefetch_related("tags")
    serializer_class = shapes.RunSerializer
    summary_serializer = shapes.RunSummarySerializer
    further_lists = {"events": shapes.RunEventSerializer}
    filterset_class = RunFilter
    filter_backends = [DjangoFilterBackend, RunOrdering]

    def get_queryset(self) -> QuerySet[Run]:
        """Lists omit the documents of several kilobytes that they do not show."""
        rows = super().get_queryset()
        if self.action != "list":
            return rows
        return labels.with_tags(rows).defer(*DOCUMENTS)

    @extend_schema(request=label_shapes.LabelsBody, responses=shapes.RunSerializer, parameters=[IF_MATCH])
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the note, the tags and whether the run is kept from retention."""
        labels.change(run := self.get_object(), self.parsed(label_shapes.LabelsBody), seen=seen(request))
        return self.shown(Run.objects.get(pk=run.pk))

    @extend_schema(request=label_shapes.BulkBody, responses=label_shapes.BulkSerializer, parameters=[IDEMPOTENCY_KEY])
    @action(detail=False, methods=["post"])
    def bulk(self, request: Request) -> Response:
        """Apply an action to many runs; `dry_run` only reports the effect."""
        body = self.parsed(label_shapes.BulkBody)
        planned = bulk.plan(body["action"], self._chosen(body), body.get("tag", ""))
        if not body["dry_run"]:
            bulk.carry_out(planned, self.user)
        shown = {**asdict(planned), "changed": len(planned.runs), "sentence": planned.sentence}
        return Response({**shown, "dry_run": body["dry_run"]})

    @staticmethod
    def _chosen(body: dict[str, Any]) -> QuerySet[Run]:
        if ("q" in body) == ("runs" in body):
            raise InvalidSetting("runs", "select runs by either runs (ids) or q (a filter)")
        if "q" in body:
            return runs_matching(body["q"], timezone.now())
        rows = Run.objects.filter(pk__in=body["runs"])
        if missing := set(body["runs"]).difference(rows.values_list("pk", flat=True)):
            raise InvalidSetting("runs", f"unknown id {shown(min(missing), 40)}")
        return rows

    @extend_schema(responses=label_shapes.FieldSerializer(many=True), filters=False)
    @action(detail=False, pagination_class=None)
    def fields(self, request: Request) -> Response:
        """Fields of the filter language, with unit and example."""
        named = {**RUN_FIELDS, **FIGURES, **SETTINGS}
        return Response(label_shapes.FieldSerializer(named.values(), many=True).data)

    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, description=FILTER_HELP),
            OpenApiParameter("columns", str, description="Comma-separated column names; see the list's page"),
            OpenApiParameter("sort", str, description="One column; a leading - sorts the largest first"),
            *(OpenApiParameter(old, str, description=f"As `{name} = …` in `q`") for old, name in listing.OLD.items()),
            OpenApiParameter("size", str, description="Page size of the list's page; no effect on the file"),
            format_parameter("Default: csv"),
        ],
        responses=a_table(),
        filters=False,
    )
    @action(detail=False)
    def export(self, request: Request) -> HttpResponseBase:
        """The list of runs as a file: same columns and order, units in the column names, at most 10,000 rows."""
        asked = listing.of_address(request.query_params)
        return exported(asked, request.query_params.get("format", CSV))

    @extend_schema(request=None, responses=shapes.RunSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel the run. Data measured so far is kept."""
        return self.shown(experiments.cancel(self.get_object()))

    @extend_schema(request=None, responses={201: shapes.RunSerializer})
    @action(detail=True, methods=["post"])
    def rerun(self, request: Request, pk: str) -> Response:
        """Run the same configuration with the same seed again, as a new run."""
        return self.shown(experiments.rerun(self.get_object(), self.user), 201)

    @extend_schema(responses={200: OpenApiTypes.OBJECT}, filters=False)
    @action(detail=True)
    def series(self, request: Request, pk: str) -> Response:
        """Time series of the run: the snapshot that the websocket sends.

        `marks` are the event markers of the charts, each with `at_s`, `until_s` (null for an instant), `label` and
        `kind`: phase, fault or membership (brokers that leave and join). Close events are merged into one marker.
        """
        return Response(snapshots.current(self.get_object()))

    @extend_schema(request=replay_shapes.ChangeSerializer, responses={201: shapes.RunSerializer})
    @action(detail=True, methods=["post"], url_path="what-if")
    def what_if(self, request: Request, pk: str) -> Response:
        """Repeat the run with one change, as a new run with the same seed and arrivals. Optionally repeat every
        replicate that does not have this change yet, so that the difference has an interval over seeds.
        """
        run, change = self.get_object(), request.data
        which = change.get("replicates", "one") if isinstance(change, Mapping) else "one"
        if which not in ("one", "all"):
            raise InvalidSetting("replicates", f"must be one or all, not {shown(which, 40)}")
        if isinstance(change, Mapping):
            change = {name: value for name, value in change.items() if name != "replicates"}
        if which == "all":
            return self.shown(whatif.what_if_in_all(run, change, self.user)[0], 201)
        return self.shown(whatif.what_if(run, change, self.user), 201)

    @extend_schema(responses=replay_shapes.DifferenceSerializer, filters=False)
    @action(detail=True)
    def difference(self, request: Request, pk: str) -> Response:
        """Difference to the run that this one varies or repeats, request by request."""
        run = self.get_object()
        before, found = whatif.baseline(run), whatif.difference(run)
        if before is None or found is None:
            raise NotFound(
                "No difference available: the run is not compared with another run, or one of the two is not done."
            )
        outcomes = [dict(zip(("before", "after", "requests"), row, strict=True)) for row in found.whole.outcomes]
        by_seed = replay_shapes.SeedSerializer(found.seeds, many=True).data
        whole = {**asdict(found.whole), "outcomes": outcomes, "by_seed": by_seed}
        return Response({"compared_with": before.pk, "change": run.change, **whole})

    @extend_schema(responses=shapes.RunEventSerializer(many=True), filters=False)
    @action(detail=True)
    def events(self, request: Request, pk: str) -> Response:
        """Events of the run, oldest first: state changes and reports of its processes."""
        page = self.paginate_queryset(history.of_run(self.get_object()))
        return self.get_paginated_response(shapes.RunEventSerializer(page, many=True).data)
