"""REST endpoints of the alarms of a network."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.alarms import services
from brokerweb.alarms.measures import MEASURES
from brokerweb.alarms.models import STATES, Alarm, AlarmEvent
from brokerweb.api.resources import created
from brokerweb.api.shapes.fields import Body
from brokerweb.api.sparse import SparseFields
from brokerweb.networks.models import Network

UNITS = "; ".join(f"{one.name} in {one.unit or 'a plain number'}" for one in MEASURES.values())


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "string"}]})
class NumberOrText(serializers.JSONField):
    """A number in the unit of the measure, or a text with a unit."""


class AlarmBody(Body):
    measure = serializers.CharField(help_text=f"A column of the time series: {UNITS}")
    comparison = serializers.CharField(help_text="above or below")
    value: Any = NumberOrText(
        help_text='Threshold: a number in the unit of the measure, or a text such as "5ms", "99%"'
    )
    for_s = serializers.IntegerField(
        required=False, default=60, help_text="For how long it must be beyond the threshold, 0 to 86,400"
    )
    clears: Any = NumberOrText(
        required=False, allow_null=True, default=None, help_text="It is resolved at this value; default: a tenth better"
    )
    broker = serializers.IntegerField(
        required=False, allow_null=True, default=None, help_text="Index of a broker; null: all brokers together"
    )


class AlarmSerializer(serializers.ModelSerializer):
    unit = serializers.SerializerMethodField(help_text="Of value, clears and seen; empty: a plain number")
    rule = serializers.SerializerMethodField(help_text="In words")
    state = serializers.ChoiceField(choices=STATES, read_only=True)
    unwatched = serializers.SerializerMethodField(help_text="Why it is not evaluated now; empty: it is, or it rests")
    owner: Any = serializers.CharField(source="owner.username", default="")

    class Meta:
        model = Alarm
        fields = ["id", "measure", "unit", "comparison", "value", "clears", "for_s", "broker", "rule", "state"]
        fields += ["since", "seen", "unwatched", "owner", "created"]

    def get_unit(self, alarm: Alarm) -> str:
        return MEASURES[alarm.measure].unit

    def get_unwatched(self, alarm: Alarm) -> str:
        return services.unwatched(alarm.network)

    def get_rule(self, alarm: Alarm) -> str:
        return services.rule_of(alarm)


class AlarmEventSerializer(serializers.ModelSerializer):
    state = serializers.ChoiceField(choices=STATES)

    class Meta:
        model = AlarmEvent
        fields = ["id", "at", "alarm", "state", "value", "rule", "words"]


class AlarmViewSet(SparseFields, GenericViewSet):
    """Alarms of networks."""

    queryset = Network.objects.all()
    network_in = "pk"
    serializer_class = AlarmSerializer
    further_lists = {"events": AlarmEventSerializer}

    @extend_schema(
        operation_id="networks_alarms_list", responses=AlarmSerializer(many=True), request=None, filters=False
    )
    @action(detail=True, pagination_class=None)
    def alarms(self, request: Request, pk: str) -> Response:
        """Alarms and their states, oldest first; at most 20."""
        alarms = self.get_object().alarms.select_related("owner", "network")
        return Response(AlarmSerializer(alarms, many=True).data)

    @extend_schema(
        operation_id="networks_alarms_create", request=AlarmBody, responses={201: AlarmSerializer}, filters=False
    )
    @alarms.mapping.post
    def add_alarm(self, request: Request, pk: str) -> Response:
        """Watch a measure of the time series. The alarm fires when it is above, or below, the threshold for `for_s`
        without interruption, and is resolved when it was back at `clears` for as long.
        """
        body = AlarmBody(data=request.data)
        body.is_valid(raise_exception=True)
        user: Any = request.user
        alarm = services.create(self.get_object(), **body.validated_data, owner=user)
        return created(AlarmSerializer(alarm).data, f"{request.build_absolute_uri(request.path)}{alarm.pk}/")

    @extend_schema(
        operation_id="networks_alarm_retrieve",
        parameters=[OpenApiParameter("alarm", OpenApiTypes.STR, OpenApiParameter.PATH)],
        responses=AlarmSerializer,
        filters=False,
    )
    @action(detail=True, url_path="alarms/(?P<alarm>[a-z0-9]{1,20})", pagination_class=None)
    def alarm(self, request: Request, pk: str, alarm: str) -> Response:
        """One alarm."""
        return Response(AlarmSerializer(self._alarm(alarm)).data)

    @extend_schema(operation_id="networks_alarm_destroy", request=None, responses={204: None}, filters=False)
    @alarm.mapping.delete
    def remove_alarm(self, request: Request, pk: str, alarm: str) -> Response:
        """Delete an alarm. Its log stays."""
        user: Any = request.user
        services.delete(self._alarm(alarm), user)
        return Response(status=204)

    @extend_schema(operation_id="networks_alarm_events_list", responses=AlarmEventSerializer(many=True), filters=False)
    @action(detail=True, url_path="alarm-events")
    def events(self, request: Request, pk: str) -> Response:
        """When alarms fired and were resolved, newest first; the latest 500 are kept."""
        page = self.paginate_queryset(services.log_of(self.get_object()))
        return self.get_paginated_response(AlarmEventSerializer(page, many=True).data)

    def _alarm(self, pk: str) -> Alarm:
        found = Alarm.objects.select_related("network", "owner").filter(pk=pk, network=self.get_object()).first()
        if found is None:
            raise NotFound("This network has no alarm with this id.")
        return found
