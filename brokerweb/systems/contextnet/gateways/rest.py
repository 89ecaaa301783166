"""REST endpoints of the gateways of a run and of a network."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.experiments.models import Run
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import network_of
from brokerweb.retention.services import removed_sentence
from brokerweb.systems.contextnet.gateways import draining, of_runs
from overlay.systems.contextnet.system import SYSTEM
from telemetry.systems.contextnet.gateways import MOST_POINTS


class MomentSerializer(serializers.Serializer):
    at_us = serializers.IntegerField()
    connections = serializers.IntegerField(help_text="Nodes")
    pool_used = serializers.IntegerField(help_text="Records on their way to nodes")
    parked = serializers.IntegerField(help_text="Records parked at silent nodes")
    log_lag_ms = serializers.IntegerField(help_text="Age of the oldest record it read since the last report but one")
    is_busy = serializers.IntegerField()
    is_draining = serializers.IntegerField()


class RunGatewaySerializer(serializers.Serializer):
    gateway = serializers.IntegerField(help_text="Its index")
    nodes = serializers.IntegerField(allow_null=True, help_text="At the end of measuring")
    most_nodes = serializers.IntegerField(allow_null=True)
    wanted = serializers.IntegerField(allow_null=True, help_text="In(X) of the last round")
    score = serializers.FloatField(allow_null=True, help_text="W(X) of the last round, smoothed")
    given = serializers.IntegerField(help_text="Nodes that it was told to give away")
    taken = serializers.IntegerField(help_text="Nodes that were told to move to it")
    most_lag_ms = serializers.IntegerField(allow_null=True)
    busy = serializers.FloatField(allow_null=True, help_text="Share of measuring, from 0 to 1")
    moments = MomentSerializer(many=True, help_text=f"At most {MOST_POINTS}")


class SeatSerializer(serializers.Serializer):
    gateway = serializers.IntegerField()
    nodes = serializers.IntegerField(help_text="Those that were told to move count at their target")
    wanted = serializers.IntegerField(allow_null=True, help_text="In(X); null if no move was considered")
    score = serializers.FloatField(help_text="W(X), smoothed")
    given = serializers.IntegerField()
    taken = serializers.IntegerField()
    is_draining = serializers.BooleanField()


class RoundSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    at_us = serializers.IntegerField()
    manager = serializers.CharField()
    budget = serializers.IntegerField(help_text="Moves at most")
    moves = serializers.IntegerField()
    seats = SeatSerializer(many=True)


class RunGatewaysSerializer(serializers.Serializer):
    """Times in microseconds since the launch."""

    begin_us = serializers.IntegerField(help_text="Of measuring")
    end_us = serializers.IntegerField(help_text="Of measuring")
    gateways = RunGatewaySerializer(many=True)
    rounds = RoundSerializer(many=True)


class RunGateways(GenericViewSet):
    queryset = Run.objects.filter(system=SYSTEM.name)
    serializer_class = RunGatewaysSerializer

    @extend_schema(operation_id="runs_gateways_retrieve", responses=RunGatewaysSerializer, filters=False)
    @action(detail=True)
    def gateways(self, request: Request, pk: str) -> Response:
        """The gateways of a run of ContextNet over time, and the rounds of its PoA manager."""
        run = self.get_object()
        found = of_runs.found(run)
        if found is None:
            raise NotFound(
                removed_sentence(run) or "This run has no gateways yet. They are known once it is collected."
            )
        return Response(RunGatewaysSerializer(of_runs.body(found)).data)


class NetworkGatewaySerializer(serializers.Serializer):
    index = serializers.IntegerField()
    state = serializers.ChoiceField(choices=tuple(draining.TONES))
    nodes = serializers.IntegerField(allow_null=True, help_text="Its connections; null if it does not answer")
    under_way = serializers.IntegerField(allow_null=True, help_text="Records on their way to its nodes")
    log_lag_ms = serializers.IntegerField(allow_null=True)
    ordered = serializers.BooleanField(
        allow_null=True, help_text="What has not reached it yet: to be drained (true), to take nodes again (false)"
    )


class NetworkGateways(GenericViewSet):
    queryset = Network.objects.all()
    network_in = "pk"
    pagination_class = None

    @extend_schema(operation_id="networks_gateways_list", responses=NetworkGatewaySerializer(many=True), filters=False)
    @action(detail=True)
    def gateways(self, request: Request, pk: str) -> Response:
        """The gateways of a network of ContextNet: their nodes, and which are drained.

        A gateway is drained by its fault `drain`: see brokers/{index}/faults/.
        """
        network = network_of(SYSTEM, request, pk)
        return Response(NetworkGatewaySerializer(draining.gateways(network), many=True).data)
