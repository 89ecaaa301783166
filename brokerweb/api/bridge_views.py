"""REST endpoints of the bridges of a network."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from brokerweb.api.resources import IF_MATCH, created, seen
from brokerweb.api.shapes.bridges import BridgeBody, BridgeChange, BridgeSerializer
from brokerweb.bridges import services
from brokerweb.bridges.models import Bridge
from brokerweb.networks.models import Network

NUMBER = OpenApiParameter("number", OpenApiTypes.INT, OpenApiParameter.PATH)


class BridgeViewSet(GenericViewSet):
    """Bridges of networks."""

    queryset = Network.objects.all()
    network_in = "pk"
    serializer_class = BridgeSerializer

    @extend_schema(
        operation_id="networks_bridges_list", responses=BridgeSerializer(many=True), request=None, filters=False
    )
    @action(detail=True, pagination_class=None)
    def bridges(self, request: Request, pk: str) -> Response:
        """Processes that connect the network with MQTT servers, and their states. 404 if its system has no bridges."""
        found = self._network().bridges.select_related("network", "owner")
        return Response(BridgeSerializer(found, many=True).data)

    @extend_schema(
        operation_id="networks_bridges_create", request=BridgeBody, responses={201: BridgeSerializer}, filters=False
    )
    @bridges.mapping.post
    def add_bridge(self, request: Request, pk: str) -> Response:
        """Add a bridge. It starts within a second, runs while the network does, and is started again when it ends."""
        user: Any = request.user
        bridge = services.create(self._network(), self._parsed(BridgeBody), user)
        address = f"{request.build_absolute_uri(request.path)}{bridge.number}/"
        return created(BridgeSerializer(bridge).data, address)

    @extend_schema(
        operation_id="networks_bridge_retrieve", parameters=[NUMBER], responses=BridgeSerializer, filters=False
    )
    @action(detail=True, url_path="bridges/(?P<number>[0-9]{1,7})", pagination_class=None)
    def bridge(self, request: Request, pk: str, number: str) -> Response:
        """One bridge."""
        return Response(BridgeSerializer(self._bridge(number)).data)

    @extend_schema(
        operation_id="networks_bridge_partial_update",
        request=BridgeChange,
        responses=BridgeSerializer,
        parameters=[NUMBER, IF_MATCH],
        filters=False,
    )
    @bridge.mapping.patch
    def change_bridge(self, request: Request, pk: str, number: str) -> Response:
        """Change a bridge, which restarts; or stop and start it by `desired`."""
        user: Any = request.user
        bridge = services.change(self._bridge(number), self._parsed(BridgeChange), user, seen(request))
        return Response(BridgeSerializer(bridge).data)

    @extend_schema(
        operation_id="networks_bridge_destroy", parameters=[NUMBER], request=None, responses={204: None}, filters=False
    )
    @bridge.mapping.delete
    def remove_bridge(self, request: Request, pk: str, number: str) -> Response:
        """Delete a bridge. What it stored and published stays until it expires."""
        user: Any = request.user
        services.delete(self._bridge(number), user)
        return Response(status=204)

    def _network(self) -> Network:
        network: Network = self.get_object()
        if services.bridging(network) is None:
            raise NotFound("Networks of this system have no bridges.")
        return network

    def _bridge(self, number: str) -> Bridge:
        found = self._network().bridges.select_related("network", "owner").filter(number=number).first()
        if found is None:
            raise NotFound("This network has no bridge with this number.")
        return found

    def _parsed(self, shape: type[BaseSerializer]) -> dict[str, Any]:
        body = shape(data=self.request.data)
        body.is_valid(raise_exception=True)
        return body.validated_data
