"""REST endpoint of one publication of a run."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.experiments.models import Run
from brokerweb.systems.silbops.messages import of_runs, shapes
from overlay.systems.silbops.system import SYSTEM


class RunPublications(GenericViewSet):
    """Publications of a run."""

    queryset = Run.objects.filter(system=SYSTEM.name)
    serializer_class = shapes.PublicationWaySerializer

    @extend_schema(operation_id="runs_publication_retrieve", responses=shapes.PublicationWaySerializer, filters=False)
    @action(detail=True, url_path="traces/(?P<publication>publisher-[0-9]{1,10}-[0-9]{1,20})")
    def way(self, request: Request, pk: str, publication: str) -> Response:
        """A publication in full: content, steps of each broker, messages between participants, deliveries."""
        found = of_runs.found(self.get_object(), publication)
        if found is None:
            raise NotFound("This run has no publication with this id.")
        return Response(found)
