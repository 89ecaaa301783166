"""REST endpoint of one message of a run."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.experiments.models import Run
from brokerweb.systems.federation.messages import of_runs, shapes
from overlay.systems.federation.system import SYSTEM


class RunFederationMessages(GenericViewSet):
    """Messages of a run."""

    queryset = Run.objects.filter(system=SYSTEM.name)
    serializer_class = shapes.FederationMessageSerializer

    @extend_schema(
        operation_id="runs_federation_message_retrieve", responses=shapes.FederationMessageSerializer, filters=False
    )
    @action(detail=True, url_path="traces/(?P<way>[nqs]-[a-z0-9]{1,20}-[0-9]{1,20})")
    def way(self, request: Request, pk: str, way: str) -> Response:
        """A message in full: steps of each broker, messages between participants, deliveries."""
        found = of_runs.found(self.get_object(), way)
        if found is None:
            raise NotFound("This run has no message with this id.")
        return Response(found)
