"""REST endpoint of the break-even."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.systems.silbops.breakeven.charts import MOST_FILTERS
from brokerweb.systems.silbops.breakeven.chosen import Chosen, table
from brokerweb.systems.silbops.breakeven.observed import observed


class BreakEvenRowSerializer(serializers.Serializer):
    kind = serializers.CharField(
        help_text="model, published, corrected (two messages for each filter), prototype (in process), simulated, live"
    )
    experiment = serializers.CharField(allow_blank=True, help_text="Id, of runs")
    name = serializers.CharField(allow_blank=True, help_text="Of the experiment")
    filters = serializers.FloatField(help_text="Of a subscriber")
    subscriptions = serializers.IntegerField()
    value = serializers.FloatField(
        allow_null=True, help_text="Notifications per change at which both arms cost the same; null: SilboPS never more"
    )
    low = serializers.FloatField(allow_null=True, help_text="Of the 95 % interval")
    high = serializers.FloatField(allow_null=True, help_text="Null: no upper end, or no interval")
    n = serializers.IntegerField(help_text="Replicates")


class BreakEvenSerializer(serializers.Serializer):
    sentence = serializers.CharField()
    results = BreakEvenRowSerializer(many=True)


class BreakEvenView(APIView):
    @extend_schema(
        operation_id="silbops_break_even_retrieve",
        parameters=[
            OpenApiParameter("filters", float, description=f"Of a subscriber: 1 to {MOST_FILTERS}; default 10"),
            OpenApiParameter("subscriptions", float, description="In all; default 80,000"),
        ],
        responses=BreakEvenSerializer,
        tags=["studies"],
    )
    def get(self, request: Request) -> Response:
        """From how many notifications per change of context on SIENA costs less than SilboPS: by a model of costs
        measured in process, as published, and in the latest runs of both arms."""
        chosen = Chosen.of(request.query_params.dict())
        rows = [*table(chosen, observed())]
        return Response(BreakEvenSerializer({"sentence": chosen.sentence(), "results": rows}).data)
