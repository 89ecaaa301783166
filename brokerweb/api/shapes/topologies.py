"""Shapes of topologies."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.shapes.fields import OBJECT, Body, ObjectField
from brokerweb.topologies.models import Link, Node, Topology


class LinkSerializer(serializers.ModelSerializer):
    class Meta:
        model = Link
        fields = ["a", "b", "delay_ms", "jitter_ms", "loss"]


class NodeSerializer(serializers.ModelSerializer):
    class Meta:
        model = Node
        fields = ["index", "name", "x", "y"]


class TopologySummarySerializer(serializers.ModelSerializer):
    owner: Any = serializers.CharField(source="owner.username", default="")
    measures = ObjectField(read_only=True)
    params = ObjectField(read_only=True)

    class Meta:
        model = Topology
        fields = ["id", "name", "kind", "brokers", "params", "seed", "measures", "owner", "created", "updated"]


class TopologySerializer(TopologySummarySerializer):
    links = LinkSerializer(many=True, read_only=True)
    nodes = NodeSerializer(many=True, read_only=True)

    class Meta(TopologySummarySerializer.Meta):
        fields = [*TopologySummarySerializer.Meta.fields, "links", "nodes"]


@extend_schema_field({"type": "array", "items": {"oneOf": [{"type": "array", "items": {"type": "integer"}}, OBJECT]}})
class GivenLinksField(serializers.ListField):
    """``[[a, b], …]`` or ``[{"a", "b", "delay_ms", "jitter_ms", "loss"}, …]``."""


class TopologyBody(Body):
    name = serializers.CharField(max_length=100)
    kind = serializers.CharField(max_length=40, help_text="One of the kinds of GET /api/topologies/kinds/")
    brokers = serializers.IntegerField(required=False, help_text="Number of brokers; kind central is one")
    params = ObjectField(required=False, help_text="Parameters of the generator, with delay, jitter and loss of links")
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    links = GivenLinksField(required=False, help_text="Of kind custom: [[a, b], …]")


class TopologyImportBody(Body):
    name = serializers.CharField(max_length=100)
    format = serializers.ChoiceField(choices=["graphml", "json"])
    text = serializers.CharField(trim_whitespace=False, help_text="The document")
