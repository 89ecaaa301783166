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
from brokerweb.systems.silbops.map import of_runs
from overlay.systems.silbops.system import SYSTEM
from telemetry.systems.silbops.movements import MOST_CAMERAS, MOST_NOTIFICATIONS, MOST_PLACES, MOST_VEHICLES, WINDOW_S


class PlaceSerializer(serializers.Serializer):
    at_us = serializers.IntegerField(help_text="When it set this context")
    x = serializers.FloatField(help_text="km")
    y = serializers.FloatField(help_text="km")


class TrackSerializer(serializers.Serializer):
    client = serializers.CharField()
    places = PlaceSerializer(many=True, help_text="The first is from before the window")


class MapNotificationSerializer(serializers.Serializer):
    camera = serializers.CharField(help_text="The publisher")
    number = serializers.IntegerField(help_text="Of the publication")
    vehicle = serializers.CharField(help_text="The subscriber")
    published_us = serializers.IntegerField()
    received_us = serializers.IntegerField()
    x = serializers.FloatField(help_text="Of the publisher in this publication, km")
    y = serializers.FloatField(help_text="km")
    distance_km = serializers.FloatField(
        allow_null=True, help_text="In x or in y, whichever is more, from where the subscriber was when it came"
    )


class MapSentSerializer(serializers.Serializer):
    """Messages of clients that brokers have received since the start of measuring."""

    at_us = serializers.IntegerField()
    setctx = serializers.IntegerField()
    subscribe = serializers.IntegerField()
    unsubscribe = serializers.IntegerField()


class MapSerializer(serializers.Serializer):
    """Times in microseconds since the launch."""

    arm = serializers.CharField()
    side_km = serializers.FloatField(help_text="Of the map")
    radius_km = serializers.FloatField(help_text="Half the side of a subscriber's square")
    begin_us = serializers.IntegerField(help_text="Of measuring")
    end_us = serializers.IntegerField(help_text="Of measuring")
    from_us = serializers.IntegerField(help_text="Begin of the window")
    until_us = serializers.IntegerField(help_text="End of the window")
    vehicles = TrackSerializer(many=True, help_text=f"The first {MOST_VEHICLES} subscribers")
    cameras = TrackSerializer(many=True, help_text=f"The first {MOST_CAMERAS} publishers")
    notifications = MapNotificationSerializer(many=True)
    sent = MapSentSerializer(many=True)
    changes = serializers.IntegerField(help_text="Contexts that these subscribers set in the window")
    left_out = serializers.IntegerField(
        help_text=f"Places beyond {MOST_PLACES:,} and notifications beyond {MOST_NOTIFICATIONS:,}"
    )


class RunMaps(GenericViewSet):
    """Places and notifications of a run."""

    queryset = Run.objects.filter(system=SYSTEM.name)
    serializer_class = MapSerializer

    @extend_schema(
        operation_id="runs_map_retrieve",
        parameters=[
            OpenApiParameter(
                "from_s", float, description=f"Begin of the window of {WINDOW_S} s, after the start of measuring"
            )
        ],
        responses=MapSerializer,
        filters=False,
    )
    @action(detail=True)
    def map(self, request: Request, pk: str) -> Response:
        """Where publishers and subscribers of a run of SilboPS were, and notifications, as they recorded them."""
        run = self.get_object()
        found = of_runs.found(run, of_runs.from_s(request.query_params.dict()))
        if found is None:
            raise NotFound(removed_sentence(run) or "This run has no places. They exist once it is collected.")
        return Response(MapSerializer(of_runs.body(run, found)).data)
