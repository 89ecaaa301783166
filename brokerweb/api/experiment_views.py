"""REST's doors to experiments."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.resources import Resource
from brokerweb.api.shapes import experiments as shapes
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment
from overlay.errors import InvalidSetting


class ExperimentViewSet(Resource):
    queryset = Experiment.objects.select_related("owner")
    serializer_class = shapes.ExperimentSerializer
    filterset_fields = {"name": ["exact", "icontains"], "demo": ["exact"]}
    ordering_fields = ["name", "created"]

    @extend_schema(request=shapes.ExperimentBody, responses={201: shapes.ExperimentSerializer})
    def create(self, request: Request) -> Response:
        body = dict(self._body(request))
        wants_report = body.pop("report_when_done", False)
        if not isinstance(wants_report, bool):
            raise InvalidSetting("report_when_done", "must be true or false")
        return self.shown(experiments.create(body, self.user, report_when_done=wants_report), 201)

    @extend_schema(request=shapes.ExperimentBody, responses=shapes.EstimateSerializer)
    @action(detail=False, methods=["post"])
    def estimate(self, request: Request) -> Response:
        """What launching this would make; nothing is saved."""
        body = {name: value for name, value in self._body(request).items() if name != "report_when_done"}
        return Response(shapes.EstimateSerializer(experiments.estimate(body)).data)

    @staticmethod
    def _body(request: Request) -> dict[str, Any]:
        if not isinstance(request.data, dict):
            raise InvalidSetting("", "the body must be an object")
        return request.data

    @extend_schema(request=None, responses={201: shapes.LaunchSerializer})
    @action(detail=True, methods=["post"])
    def launch(self, request: Request, pk: str) -> Response:
        """Creates the runs and queues them, in random order."""
        launched = experiments.launch(self.get_object(), self.user)
        ids = [run.pk for run in launched.runs]
        return Response({"runs": ids, "count": launched.count, "estimated_s": launched.estimated_s}, status=201)

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        experiments.delete(self.get_object())
        return Response(status=204)
