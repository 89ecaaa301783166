"""REST endpoint of the map of a run."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.experiments.models import Run
from brokerweb.retention.services import removed_sentence
from brokerweb.systems.contextnet.map import of_runs
from overlay.systems.contextnet.system import SYSTEM
from telemetry.systems.contextnet.movements import MOST_CASTS, MOST_NODES, MOST_PLACES, WINDOW_S


class NodePlaceSerializer(serializers.Serializer):
    at_us = serializers.IntegerField(help_text="When it set this context")
    x = serializers.FloatField(help_text="km")
    y = serializers.FloatField(help_text="km")


class NodeTrackSerializer(serializers.Serializer):
    node = serializers.IntegerField()
    places = NodePlaceSerializer(many=True, help_text="The first is from before the window")


class NodeReceiptSerializer(serializers.Serializer):
    node = serializers.IntegerField()
    received_us = serializers.IntegerField()


class RegionCastSerializer(serializers.Serializer):
    id = serializers.CharField()
    region = serializers.IntegerField(help_text="Row by row from the origin, from 0")
    name = serializers.CharField(help_text="The group: column:row")
    due_us = serializers.IntegerField()
    received = NodeReceiptSerializer(many=True)


class RegionMapSerializer(serializers.Serializer):
    """Times in microseconds since the launch."""

    side_km = serializers.FloatField(help_text="Of the map")
    across = serializers.IntegerField(help_text="Regions from one edge to the other")
    begin_us = serializers.IntegerField(help_text="Of measuring")
    end_us = serializers.IntegerField(help_text="Of measuring")
    from_us = serializers.IntegerField(help_text="Begin of the window")
    until_us = serializers.IntegerField(help_text="End of the window")
    nodes = NodeTrackSerializer(many=True, help_text=f"The first {MOST_NODES}")
    casts = RegionCastSerializer(many=True, help_text="Messages to regions")
    left_out = serializers.IntegerField(help_text=f"Places beyond {MOST_PLACES:,} and messages beyond {MOST_CASTS:,}")


class RunRegionMaps(GenericViewSet):
    """Places of nodes, and messages to regions, of a run."""

    queryset = Run.objects.filter(system=SYSTEM.name)
    serializer_class = RegionMapSerializer

    @extend_schema(
        operation_id="runs_region_map_retrieve",
        parameters=[
            OpenApiParameter(
                "from_s", float, description=f"Begin of the window of {WINDOW_S} s, after the start of measuring"
            )
        ],
        responses=RegionMapSerializer,
        filters=False,
    )
    @action(detail=True, url_path="region-map")
    def region_map(self, request: Request, pk: str) -> Response:
        """Where nodes of a run of ContextNet drove, and messages to their regions, as they recorded them."""
        run = self.get_object()
        found = of_runs.found(run, of_runs.from_s(request.query_params.dict()))
        if found is None:
            raise NotFound(
                removed_sentence(run) or "This run has no places: its nodes do not drive, or it has not ended."
            )
        return Response(RegionMapSerializer(of_runs.body(run, found)).data)
