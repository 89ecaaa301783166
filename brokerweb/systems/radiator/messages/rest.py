"""REST endpoint of one message of a run."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.experiments.models import Run
from brokerweb.systems.radiator.messages import of_runs, shapes
from overlay.systems.radiator.system import SYSTEM


class RunMessageWays(GenericViewSet):
    """Messages of a run."""

    queryset = Run.objects.filter(system=SYSTEM.name)
    serializer_class = shapes.MessageWaySerializer

    @extend_schema(operation_id="runs_message_way_retrieve", responses=shapes.MessageWaySerializer, filters=False)
    @action(detail=True, url_path="traces/(?P<message>[0-9a-f]{16}-[0-9]{1,20})")
    def way(self, request: Request, pk: str, message: str) -> Response:
        """One message in full: its queues, the propagations that hold it, and their chains hop by hop."""
        found = of_runs.found(self.get_object(), message)
        if found is None:
            raise NotFound("This run has no message with this id.")
        return Response(found)
