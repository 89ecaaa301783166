"""REST's doors to networks and hosts, and the front through which applications use a network."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api.paging import part_of
from brokerweb.api.resources import Resource, chosen
from brokerweb.api.shapes import networks as shapes
from brokerweb.api.shapes.brokers import NetworkBrokerSerializer, RunBrokerListSerializer
from brokerweb.networks import context, looking
from brokerweb.networks import services as networks
from brokerweb.networks.models import Host, Network
from brokerweb.topologies.models import Topology


class NetworkViewSet(Resource):
    queryset = Network.objects.select_related("owner")
    serializer_class = shapes.NetworkSerializer
    filterset_fields = {"name": ["exact", "icontains"], "state": ["exact", "in"], "topology": ["exact"]}
    ordering_fields = ["name", "state", "created", "changed"]

    @extend_schema(request=shapes.NetworkBody, responses={201: shapes.NetworkSerializer})
    def create(self, request: Request) -> Response:
        """Deploys a topology as a network that stays up."""
        body = self.parsed(shapes.NetworkBody)
        topology = chosen(Topology.objects.all(), [body.pop("topology")], "topology")[0]
        return self.shown(networks.deploy(**body, topology=topology, owner=self.user), 201)

    @extend_schema(request=None, responses=shapes.NetworkSerializer)
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str) -> Response:
        """Brings it up again."""
        return self.shown(networks.start(self.get_object()))

    @extend_schema(request=None, responses=shapes.NetworkSerializer)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stops it; its brokers leave and end."""
        return self.shown(networks.stop(self.get_object()))

    @extend_schema(
        operation_id="networks_brokers_list",
        parameters=[OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="At most 1,000")],
        responses=RunBrokerListSerializer,
        filters=False,
    )
    @action(detail=True, url_path="brokers")
    def brokers(self, request: Request, pk: str) -> Response:
        """Each broker's state; its load since the last look, and on the host that runs them its memory."""
        network = self.get_object()
        shown = looking.frame(network)
        rows = looking.rows_of(network, shown)
        return Response({**part_of(request, rows), "t_s": None})

    @extend_schema(operation_id="networks_broker_retrieve", responses=NetworkBrokerSerializer, filters=False)
    @action(detail=True, url_path="brokers/(?P<index>[0-9]{1,7})")
    def broker(self, request: Request, pk: str, index: str) -> Response:
        """One broker: neighbours, counters and its last steps, as it wrote them down."""
        found = looking.one_of(self.get_object(), int(index))
        if found is None:
            raise NotFound("This network has no broker of this number.")
        return Response(found)

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        networks.delete(self.get_object())
        return Response(status=204)


class HostViewSet(Resource):
    queryset = Host.objects.all()
    serializer_class = shapes.HostSerializer
    lookup_value_regex = "[^/]+"
    filterset_fields = {"name": ["exact", "icontains"]}
    ordering_fields = ["name", "heartbeat"]


class ContextView(APIView):
    """Context of one entity and scope, through any broker of a running network."""

    @extend_schema(responses=shapes.ContextSerializer)
    def get(self, request: Request, pk: str, type: str, entity: str, scope: str) -> Response:
        """Asks. 404 if no broker has it or it is no longer valid, 504 if none answered in time."""
        entry = context.ask(get_object_or_404(Network, pk=pk), type, entity, scope)
        if entry is None:
            raise NotFound("No broker of this network has valid data of this entity and scope.")
        return Response(shapes.ContextSerializer(entry).data)

    @extend_schema(request=shapes.ContextBody, responses=shapes.ProvidedSerializer)
    def put(self, request: Request, pk: str, type: str, entity: str, scope: str) -> Response:
        """Provides."""
        body = shapes.ContextBody(data=request.data)
        body.is_valid(raise_exception=True)
        given = context.provide(get_object_or_404(Network, pk=pk), type, entity, scope, **body.validated_data)
        return Response(shapes.ProvidedSerializer(given).data)
