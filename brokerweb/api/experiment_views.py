"""REST endpoints of experiments and presets."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.viewsets import ViewSet

from brokerweb.accounts.rights import Operation
from brokerweb.api.pages import Pages
from brokerweb.api.parsers import YAML, JSONParser, YAMLParser
from brokerweb.api.resources import IF_MATCH, Resource, created, seen
from brokerweb.api.shapes import experiments as shapes
from brokerweb.api.shapes import thresholds as conditions
from brokerweb.api.sparse import SparseFields
from brokerweb.api.tables import a_table, format_parameter
from brokerweb.definitions import documents
from brokerweb.definitions.presets import PRESETS, Preset
from brokerweb.experiments import estimates, evaluation, judging, results
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment
from brokerweb.kit.tables import JSON, checked, download, written
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.systems.registry import SYSTEMS

BODY = {"application/json": shapes.ExperimentBody, YAML: shapes.ExperimentBody}
SORTS = list(dict.fromkeys(sort for system in SYSTEMS for sort in results.sorts(system)))
YAML_ANSWER = {(200, YAML): OpenApiTypes.OBJECT}


class ExperimentViewSet(Resource):
    queryset = Experiment.objects.select_related("owner")
    serializer_class = shapes.ExperimentSerializer
    filterset_fields = {"name": ["exact", "icontains"], "demo": ["exact"]}
    ordering_fields = ["name", "created"]
    parser_classes = [JSONParser, YAMLParser]
    operations = {"judge": Operation.READ}

    @extend_schema(request=BODY, responses={201: shapes.ExperimentSerializer})
    def create(self, request: Request) -> Response:
        """Topologies are given by id, by name or as objects (`{kind: ring, brokers: 10}`). Body: JSON or YAML."""
        body = dict(self._body(request))
        wants_report = body.pop("report_when_done", False)
        if not isinstance(wants_report, bool):
            raise InvalidSetting("report_when_done", "must be true or false")
        return self.shown(experiments.create(body, self.user, report_when_done=wants_report), 201)

    @extend_schema(
        request=conditions.ThresholdsBody, responses=shapes.ExperimentSerializer, parameters=[IF_MATCH], filters=False
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the thresholds, the only mutable part of an experiment.

        Finished runs are evaluated again before the response, and their events record the change. Other runs are
        evaluated when they finish.
        """
        texts = self.parsed(conditions.ThresholdsBody)["thresholds"]
        evaluation.demand(experiment := self.get_object(), texts, self.user, seen(request))
        return self.shown(experiment)

    @extend_schema(request=conditions.JudgeBody, responses=conditions.JudgedSerializer)
    @action(detail=True, methods=["post"])
    def judge(self, request: Request, pk: str) -> Response:
        """Evaluate thresholds for runs, without storing anything; the experiment keeps its own.

        For pipelines: an empty list of runs checks whether the thresholds can be read.
        """
        body = self.parsed(conditions.JudgeBody)
        verdicts = judging.judge(self.get_object(), body["thresholds"], body["runs"])
        return Response({"runs": [asdict(one) for one in verdicts]})

    @extend_schema(request=BODY, responses=shapes.EstimateSerializer)
    @action(detail=False, methods=["post"])
    def estimate(self, request: Request) -> Response:
        """Estimate of a launch: run count, duration and disk space. Nothing is saved."""
        body = {name: value for name, value in self._body(request).items() if name != "report_when_done"}
        return Response(shapes.EstimateSerializer(estimates.estimate(body)).data)

    @staticmethod
    def _body(request: Request) -> dict[str, Any]:
        if not isinstance(request.data, dict):
            raise InvalidSetting("", "the body must be a JSON object")
        return request.data

    @extend_schema(responses=YAML_ANSWER, filters=False)
    @action(detail=True)
    def yaml(self, request: Request, pk: str) -> HttpResponse:
        """The definition with its topologies inline: a valid body to create the experiment here or elsewhere."""
        return _yaml(documents.text(self.get_object().definition))

    @extend_schema(
        operation_id="experiments_configurations",
        parameters=[
            format_parameter("Default: json"),
            OpenApiParameter("sort", str, enum=SORTS, description="Default: the first figure"),
        ],
        responses=a_table(),
        filters=False,
    )
    @action(detail=True)
    def configurations(self, request: Request, pk: str) -> HttpResponse:
        """Results by configuration: varied parameters, n, figures with 95 % intervals, run counts, failures and
        thresholds. Not paged.
        """
        sort, form = request.query_params.get("sort", ""), checked(request.query_params.get("format", JSON))
        experiment = self.get_object()
        known = results.sorts(experiment.definition["system"])
        if sort and sort not in known:
            raise InvalidSetting("sort", f"must be one of {', '.join(known)}, not {sort!r:.40}")
        name = f"configurations-{experiment.pk}{'-simulated' if experiment.definition['engine'] == SIMULATED else ''}"
        return download(written(results.table(experiment, sort), form), form, name)

    @extend_schema(
        request=shapes.LaunchBody,
        responses={201: shapes.SkippingLaunchSerializer, 200: shapes.SkippingLaunchSerializer},
    )
    @action(detail=True, methods=["post"])
    def launch(self, request: Request, pk: str) -> Response:
        """Create the runs and queue them in random order.

        With `skip_existing`, `skipped` names the finished run that stands for each run that is not launched; 200 if
        none is left to launch.
        """
        order = self.parsed(shapes.LaunchBody)
        launched = experiments.launch(self.get_object(), self.user, **order)
        told = {**shown_launch(launched), "skipped": [asdict(one) for one in launched.skipped]}
        return created(told, runs_of(pk, request)) if launched.runs else Response(told)

    @extend_schema(request=None, responses={201: shapes.LaunchSerializer})
    @action(detail=True, methods=["post"], url_path="retry-failed")
    def retry_failed(self, request: Request, pk: str) -> Response:
        """Queue failed runs again, each once, with their configurations and seeds."""
        launched = experiments.retry_failed(self.get_object(), self.user)
        return created(shown_launch(launched), runs_of(pk, request))

    @extend_schema(request=None, responses={200: shapes.CancelledSerializer})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel unfinished runs. Data measured so far is kept."""
        return Response({"cancelled": experiments.cancel_all(self.get_object())})

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        experiments.delete(self.get_object())
        return Response(status=204)


def runs_of(experiment: str, request: Request) -> str:
    """The address of its runs."""
    return f"{reverse('api:run-list', request=request)}?{urlencode({'experiment': experiment})}"


def shown_launch(launched: experiments.Launch) -> dict[str, Any]:
    """A launch as JSON."""
    return {
        "runs": [run.pk for run in launched.runs],
        "count": launched.count,
        "estimated_s": launched.estimated_s,
    }


def _yaml(text: str) -> HttpResponse:
    return HttpResponse(text, content_type=f"{YAML}; charset=utf-8")


class PresetViewSet(SparseFields, ViewSet):
    """Predefined experiments: a body of `POST /api/experiments/` and its purpose."""

    serializer_class = shapes.PresetSerializer
    pagination_class = Pages
    lookup_value_regex = "[a-z0-9-]+"

    @extend_schema(responses=shapes.PresetSerializer(many=True))
    def list(self, request: Request) -> Response:
        pages = Pages()
        page = pages.paginate_queryset(list(PRESETS.values()), request, view=self)
        return pages.get_paginated_response(shapes.PresetSerializer(page, many=True).data)

    @extend_schema(responses=shapes.PresetSerializer, parameters=[OpenApiParameter("id", str, "path")])
    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(shapes.PresetSerializer(self._preset(pk)).data)

    @extend_schema(responses=YAML_ANSWER, parameters=[OpenApiParameter("id", str, "path")])
    @action(detail=True)
    def yaml(self, request: Request, pk: str) -> HttpResponse:
        """The preset's YAML file, including comments."""
        return _yaml(self._preset(pk).text)

    @staticmethod
    def _preset(name: str) -> Preset:
        if name not in PRESETS:
            raise NotFound(f"No preset is named {name!r:.40}.")
        return PRESETS[name]
