"""REST endpoint of one message of a run."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.experiments.models import Run
from brokerweb.systems.contextnet.messages import of_runs, shapes
from overlay.systems.contextnet.system import SYSTEM


class RunNodeMessages(GenericViewSet):
    """Messages of a run."""

    queryset = Run.objects.filter(system=SYSTEM.name)
    serializer_class = shapes.NodeMessageSerializer

    @extend_schema(operation_id="runs_node_message_retrieve", responses=shapes.NodeMessageSerializer, filters=False)
    @action(detail=True, url_path="traces/(?P<node_message>[0-9a-f]{32})")
    def node_message(self, request: Request, pk: str, node_message: str) -> Response:
        """A message from or to a node in full: what each process did with it, and its passages between them."""
        found = of_runs.found(self.get_object(), node_message)
        if found is None:
            raise NotFound("This run has no message with this id.")
        return Response(found)
