"""REST's door to the published claims, judged."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.experiments.models import Experiment
from brokerweb.systems.context_broker.claims import judging
from brokerweb.systems.context_broker.claims.shapes import ClaimsSerializer


class ExperimentClaims(GenericViewSet):
    """The claims of the thesis."""

    queryset = Experiment.objects.all()
    serializer_class = ClaimsSerializer

    @extend_schema(operation_id="experiments_claims", responses=ClaimsSerializer, filters=False)
    @action(detail=True)
    def claims(self, request: Request, pk: str) -> Response:
        """The published claims judged by its runs; 404 where none of them is a configuration of the matrix."""
        found = judging.judged(self.get_object())
        if found is None:
            raise NotFound("None of this experiment's runs is a configuration of the published matrix.")
        return Response(ClaimsSerializer(judging.as_json(found)).data)
