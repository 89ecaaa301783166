"""REST endpoints of networks and hosts."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from brokerweb.accounts.asking import access_of, shown_networks
from brokerweb.api.bootstrap_views import NetworkDiscovery
from brokerweb.api.network_changes import HOW, NetworkChanges, broker_of
from brokerweb.api.network_changes import shown as change_shown
from brokerweb.api.paging import links, part_of, whole
from brokerweb.api.resources import Resource, chosen
from brokerweb.api.shapes import network_changes as change_shapes
from brokerweb.api.shapes import networks as shapes
from brokerweb.api.shapes.brokers import NetworkBrokerSerializer, RunBrokerListSerializer
from brokerweb.networks import broker_index, changes, history, live_data, probing
from brokerweb.networks import services as networks
from brokerweb.networks.models import Host, Network
from brokerweb.networks.probes import TIERS, Tier
from brokerweb.systems.contract import Rows
from brokerweb.systems.registry import web_of
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting, shown

PAGED = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="Maximum 1,000")]
_YES_OR_NO = {"": None, "true": True, "false": False}


class NetworkViewSet(NetworkDiscovery, NetworkChanges):
    queryset = Network.objects.select_related("owner").prefetch_related("restart_orders")
    serializer_class = shapes.NetworkSerializer
    network_in = "pk"
    filterset_fields = {"name": ["exact", "icontains"], "state": ["exact", "in"], "topology": ["exact"]}
    ordering_fields = ["name", "state", "created", "changed"]

    def get_queryset(self) -> QuerySet[Network]:
        return shown_networks(super().get_queryset(), access_of(self.request.user, self.request.auth))

    @extend_schema(request=shapes.NetworkBody, responses={201: shapes.NetworkSerializer})
    def create(self, request: Request) -> Response:
        """Deploy a topology as a network that runs until it is stopped."""
        body = self.parsed(shapes.NetworkBody)
        id = body.pop("topology")
        topology = chosen(Topology.objects.all(), [id], "topology")[0] if id is not None else None
        return self.shown(networks.deploy(**body, topology=topology, owner=self.user), 201)

    @extend_schema(request=shapes.StartBody, responses=shapes.NetworkSerializer)
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str) -> Response:
        """Start the network. Its brokers come back at the addresses that they had.

        A broker whose port another program has taken meanwhile is `failed` with the reason; the others run.
        """
        return self.shown(networks.start(self.get_object(), **self.parsed(shapes.StartBody)))

    @extend_schema(request=None, responses=shapes.NetworkSerializer)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stop the network; its brokers leave the overlay and exit."""
        return self.shown(networks.stop(self.get_object()))

    @extend_schema(
        operation_id="networks_brokers_list",
        parameters=PAGED,
        responses=RunBrokerListSerializer,
        filters=False,
    )
    @action(detail=True, url_path="brokers")
    def brokers(self, request: Request, pk: str) -> Response:
        """State and load of each broker; memory only on the host that runs the brokers."""
        network = self.get_object()
        shown = live_data.frame(network)
        rows = live_data.rows_of(network, shown)
        return Response({**part_of(request, rows), "t_s": None})

    @extend_schema(
        operation_id="networks_brokers_create",
        request=change_shapes.AddBrokerBody,
        responses={201: change_shapes.NetworkChangeSerializer},
        filters=False,
    )
    @brokers.mapping.post
    def add_broker(self, request: Request, pk: str) -> Response:
        """Add a broker with links to others. `added` has its index, which no other broker had or will have."""
        body = self.parsed(change_shapes.AddBrokerBody)
        return change_shown(changes.add_broker(self.get_object(), body.pop("links"), self._how(body)), 201)

    @extend_schema(operation_id="networks_broker_retrieve", responses=NetworkBrokerSerializer, filters=False)
    @action(detail=True, url_path="brokers/(?P<index>[0-9]{1,7})")
    def broker(self, request: Request, pk: str, index: str) -> Response:
        """One broker: neighbours, counters and latest steps."""
        network = self.get_object()
        return Response(live_data.one_of(network, broker_of(network, index)))

    @extend_schema(
        operation_id="networks_broker_destroy",
        request=None,
        parameters=HOW,
        responses={200: change_shapes.NetworkChangeSerializer},
        filters=False,
    )
    @broker.mapping.delete
    def remove_broker(self, request: Request, pk: str, index: str) -> Response:
        """Drain a broker and remove it with its links. Its index is not used again."""
        network = self.get_object()
        return change_shown(changes.remove_broker(network, broker_of(network, index), self._how_of_query()))

    @extend_schema(
        operation_id="networks_broker_restart",
        request=None,
        parameters=[OpenApiParameter("index", int, OpenApiParameter.PATH)],
        responses=shapes.NetworkSerializer,
        filters=False,
    )
    @action(detail=True, methods=["post"], url_path="brokers/(?P<index>[0-9]{1,7})/restart", url_name="restart-broker")
    def restart_broker(self, request: Request, pk: str, index: str) -> Response:
        """Restart one broker at its address within a few seconds. It loses the data in its memory. A drained broker
        starts again.

        `restarting` in the response lists brokers with a pending restart. Returns 409 if the broker cannot be restarted
        now.
        """
        network = self.get_object()
        return self.shown(networks.restart_broker(network, broker_of(network, index), self.user))

    @extend_schema(
        operation_id="networks_broker_fault",
        request=shapes.FaultBody,
        parameters=[OpenApiParameter("index", int, OpenApiParameter.PATH)],
        responses=shapes.NetworkSerializer,
        filters=False,
    )
    @action(detail=True, methods=["post"], url_path="brokers/(?P<index>[0-9]{1,7})/faults", url_name="broker-faults")
    def begin_fault(self, request: Request, pk: str, index: str) -> Response:
        """Begin or end a fault of the system at a server while the network runs, within two seconds: cut the radio of
        a mobile broker, bring it back, or move it to another port.

        400 if this server cannot have the fault, 409 if it does not run.
        """
        network = self.get_object()
        sent = self.parsed(shapes.FaultBody)
        return self.shown(networks.operate(network, broker_of(network, index), **sent, by=self.user))

    @extend_schema(
        operation_id="networks_events_list", responses=shapes.NetworkEventSerializer(many=True), filters=False
    )
    @action(detail=True, url_path="events", pagination_class=None)
    def events(self, request: Request, pk: str) -> Response:
        """Events of the network and its brokers, newest first; at most 50."""
        return Response(shapes.NetworkEventSerializer(history.newest(self.get_object()), many=True).data)

    @extend_schema(
        operation_id="networks_series_retrieve",
        parameters=[
            OpenApiParameter("broker", int, description="Broker index; default: all brokers together"),
            OpenApiParameter("range", str, enum=[tier.range for tier in TIERS], description="Default: 15m"),
            OpenApiParameter(
                "step", int, enum=[tier.step_s for tier in TIERS], description="The same by its step in seconds"
            ),
        ],
        responses=shapes.NetworkSeriesSerializer,
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def series(self, request: Request, pk: str) -> Response:
        """Time series of probes, load and memory: 15 minutes in steps of 1 s, 3 hours in steps of 10 s, one day in
        steps of 1 min, or 14 days in steps of 10 min.

        A step in which nothing was measured is null: the network was down, or the live feed of its host. Systems with
        gauges of their own, as federated brokers, add a column for each.
        """
        network = self.get_object()
        broker, tier = _broker(network, request), _tier(request)
        found = probing.probe_file(network).read(tier, broker, time.time())
        return Response({"range": tier.range, "step_s": tier.step_s, "broker": broker, **found})

    @extend_schema(
        operation_id="networks_clients_list",
        parameters=[OpenApiParameter("reachable", bool, description="Only those that are, or are not"), *PAGED],
        responses=shapes.NetworkClientListSerializer,
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def clients(self, request: Request, pk: str) -> Response:
        """Clients that the servers of the network know, in order of registration.

        404 if servers of this system do not list them, 409 if the network does not run, 504 if no server answers.
        """
        network, only = self.get_object(), _reachable(request)

        def ask(offset: int, limit: int) -> Rows | None:
            return web_of(network.system).clients_of_network(network, offset, limit, only)

        return _rows(request, "clients", ask, shapes.NetworkClientSerializer, reachable=only)

    @extend_schema(
        operation_id="networks_pending_list",
        parameters=PAGED,
        responses=shapes.NetworkQueueListSerializer,
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def pending(self, request: Request, pk: str) -> Response:
        """Messages that the servers of the network retain, by queue; those that leave first come first.

        404 if servers of this system do not list them, 409 if the network does not run, 504 if no server answers.
        """
        network = self.get_object()

        def ask(offset: int, limit: int) -> Rows | None:
            return web_of(network.system).pending_of_network(network, offset, limit)

        return _rows(request, "pending messages", ask, shapes.NetworkQueueSerializer)

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


def _reachable(request: Request) -> bool | None:
    text = request.query_params.get("reachable", "")
    if text not in _YES_OR_NO:
        raise InvalidSetting("reachable", f"must be true or false, not {text!r:.40}")
    return _YES_OR_NO[text]


def _rows(
    request: Request,
    what: str,
    ask: Callable[[int, int], Rows | None],
    shape: type[Serializer],
    **query: bool | None,
) -> Response:
    """A page of what servers list. Raises ``NotFound`` if they do not."""
    page, size = whole(request, "page", 1, 1, 10**6), whole(request, "page_size", 100, 1, 1_000)
    found = ask((page - 1) * size, size)
    if found is None:
        raise NotFound(f"Servers of this network's system list no {what}.")
    kept = {name: str(value).lower() for name, value in query.items() if value is not None}
    page_links = links(request, {**kept, "page_size": size}, page, -(-found.count // size))
    return Response({"count": found.count, **page_links, "results": shape(found.rows, many=True).data})


def _tier(request: Request) -> Tier:
    """By ``range`` or ``step``. Raises ``InvalidSetting``."""
    by_range, by_step = {tier.range: tier for tier in TIERS}, {str(tier.step_s): tier for tier in TIERS}
    tiers = []
    for name, known, unit in (("range", by_range, ""), ("step", by_step, " (seconds)")):
        said = request.query_params.get(name)
        if said is not None and said not in known:
            raise InvalidSetting(name, f"must be one of {', '.join(known)}{unit}, not {shown(said, 40)}")
        tiers += [known[said]] if said is not None else []
    if len({tier.range for tier in tiers}) > 1:
        raise InvalidSetting("step", f"contradicts range: {tiers[0].range} has steps of {tiers[0].step_s} s")
    return tiers[0] if tiers else TIERS[0]


def _broker(network: Network, request: Request) -> int | None:
    """The broker to query; ``None`` for any."""
    return broker_index.chosen(network, request.query_params.get("broker", ""))
