"""REST endpoints of the tree and the mobile brokers of a network."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.api.shapes.fields import ObjectField
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import network_of
from brokerweb.systems.federation.watching.mobile import mobile_brokers
from brokerweb.systems.federation.watching.tree import tree_of
from overlay.systems.federation.system import SYSTEM


class TreeBrokerSerializer(serializers.Serializer):
    index = serializers.IntegerField(allow_null=True)
    broker = serializers.CharField(help_text="Its name in messages")
    endpoint = serializers.CharField()
    is_mobile = serializers.BooleanField()
    state = serializers.ChoiceField(choices=("valid", "invalid"), help_text="At the registration service")
    silent_ms = serializers.IntegerField(help_text="Since the last sign of life")
    epoch = serializers.IntegerField(help_text="The newest that was sent to it")
    down = serializers.ListField(child=serializers.CharField(), help_text="Brokers to which it reports a dead link")


class TreeSerializer(serializers.Serializer):
    epoch = serializers.IntegerField()
    is_of_service = serializers.BooleanField(help_text="False: a broker told it, which may know an older one")
    edges = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))
    resting = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="Links that are no edges"
    )
    brokers = TreeBrokerSerializer(many=True)


class StoreSerializer(serializers.Serializer):
    broker = serializers.IntegerField(help_text="Who keeps it")
    neighbour = serializers.IntegerField(help_text="For whom")
    state = serializers.CharField(help_text="Of the edge: connected, connecting, away, retired")
    count = serializers.IntegerField(help_text="Notifications")
    bytes = serializers.IntegerField()
    unacknowledged = serializers.IntegerField(help_text="Messages that its channel keeps for the session")
    gives_up_in_ms = serializers.IntegerField(allow_null=True, help_text="Until it is dropped; null: not away")


class MobileBrokerSerializer(serializers.Serializer):
    index = serializers.IntegerField()
    state = serializers.ChoiceField(choices=("connected", "connecting", "offline", "away", "down"))
    endpoint = serializers.CharField(allow_blank=True)
    epoch = serializers.IntegerField()
    clients = serializers.IntegerField()
    by_neighbours = StoreSerializer(many=True)
    by_itself = StoreSerializer(many=True)
    bulk = ObjectField(allow_null=True, help_text="{waiting, omega, leaves_in_ms}; null without bulk mode")
    waiting = serializers.ListField(child=ObjectField(), help_text="The first 50 subscriptions of the bulk queue")
    trouble = serializers.CharField(allow_blank=True)


class FederationNetworks(GenericViewSet):
    queryset = Network.objects.all()
    network_in = "pk"
    pagination_class = None

    @extend_schema(operation_id="networks_tree_retrieve", responses=TreeSerializer, filters=False)
    @action(detail=True)
    def tree(self, request: Request, pk: str) -> Response:
        """The newest tree of a federation: which links are used, which rest, and the registered brokers.

        409 if the network does not run or is of another system, 504 if no server answers.
        """
        network = network_of(SYSTEM, request, pk)
        found = tree_of(network)
        shown: dict[str, Any] = {**asdict(found), "edges": sorted(found.edges)}
        return Response(TreeSerializer({**shown, "resting": found.resting(network.deployed["links"])}).data)

    @extend_schema(
        operation_id="networks_mobile_brokers_list", responses=MobileBrokerSerializer(many=True), filters=False
    )
    @action(detail=True, url_path="mobile-brokers")
    def mobile_brokers(self, request: Request, pk: str) -> Response:
        """The mobile brokers of a federation: state, what is stored for and by them, and their bulk queues."""
        return Response(MobileBrokerSerializer(mobile_brokers(network_of(SYSTEM, request, pk)), many=True).data)
