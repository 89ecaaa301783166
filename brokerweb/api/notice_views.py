"""REST endpoints of notifications."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.resources import IF_MATCH, MARK_HELP, Resource, seen
from brokerweb.api.shapes.fields import Body
from brokerweb.kit import etags
from brokerweb.notices import services
from brokerweb.notices.models import Channel, Delivery, DeliveryState, NoticeKind, Target

KIND_CHOICES = [(kind.value, kind.label) for kind in NoticeKind if kind.value in services.KINDS]


class TargetBody(Body):
    name = serializers.CharField(max_length=100)
    channel = serializers.CharField(help_text="email or webhook")
    address = serializers.CharField(max_length=500, help_text="An e-mail address, or an HTTP or HTTPS URL")
    kinds = serializers.ListField(
        child=serializers.CharField(max_length=40), max_length=20, help_text="Event kinds to report"
    )
    secret = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Key of the webhook signature in X-Waxwing-Signature"
    )


class TargetChange(Body):
    name = serializers.CharField(required=False, max_length=100)
    address = serializers.CharField(required=False, max_length=500)
    kinds = serializers.ListField(child=serializers.CharField(max_length=40), required=False, max_length=20)
    secret = serializers.CharField(required=False, allow_blank=True)
    enabled = serializers.BooleanField(required=False)


class TargetSerializer(serializers.ModelSerializer):
    address = serializers.SerializerMethodField(
        help_text="For webhooks only the host: the path often contains a secret"
    )
    signed = serializers.SerializerMethodField(help_text="Whether a secret is set")
    kinds: Any = serializers.ListField(child=serializers.ChoiceField(choices=KIND_CHOICES))
    channel = serializers.ChoiceField(choices=Channel.choices)
    owner: Any = serializers.CharField(source="owner.username", default="")
    mark = serializers.SerializerMethodField(help_text=MARK_HELP)

    class Meta:
        model = Target
        fields = [
            "id",
            "name",
            "channel",
            "address",
            "signed",
            "kinds",
            "enabled",
            "failures",
            "note",
            "owner",
            "created",
            "mark",
        ]

    def get_mark(self, target: Target) -> str:
        return etags.mark(services.stored(target))

    def get_address(self, target: Target) -> str:
        return services.masked(target)

    def get_signed(self, target: Target) -> bool:
        return bool(target.secret)


class DeliverySerializer(serializers.ModelSerializer):
    event = serializers.ChoiceField(source="notice.kind", choices=NoticeKind.choices)
    title = serializers.CharField(source="notice.title")
    path = serializers.CharField(source="notice.path")
    state = serializers.ChoiceField(choices=DeliveryState.choices)

    class Meta:
        model = Delivery
        fields = ["id", "event", "title", "path", "state", "attempts", "due", "sentence", "created", "ended_at"]


class TargetViewSet(Resource):
    queryset = Target.objects.select_related("owner")
    serializer_class = TargetSerializer
    further_lists = {"deliveries": DeliverySerializer}
    filterset_fields = {"name": ["exact"], "channel": ["exact"], "enabled": ["exact"]}
    ordering_fields = ["name", "created"]

    @extend_schema(request=TargetBody, responses={201: TargetSerializer})
    def create(self, request: Request) -> Response:
        """Create a target."""
        return self.shown(services.create(**self.parsed(TargetBody), owner=self.user), 201)

    @extend_schema(request=TargetChange, responses=TargetSerializer, parameters=[IF_MATCH])
    def partial_update(self, request: Request, pk: str) -> Response:
        return self.shown(services.change(self.get_object(), self.parsed(TargetChange), seen=seen(request)))

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        services.delete(self.get_object())
        return Response(status=204)

    @extend_schema(operation_id="notifications_test", request=None, responses={202: DeliverySerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        """Send a test notice; the result appears in its deliveries."""
        return Response(DeliverySerializer(services.test(self.get_object())).data, status=202)

    @extend_schema(operation_id="notifications_deliveries", responses=DeliverySerializer(many=True), filters=False)
    @action(detail=True)
    def deliveries(self, request: Request, pk: str) -> Response:
        """Deliveries of this target with their results, newest first."""
        page = self.paginate_queryset(self.get_object().deliveries.select_related("notice"))
        return self.get_paginated_response(DeliverySerializer(page, many=True).data)
