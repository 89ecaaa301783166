"""Bodies of topologies."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, ObjectField
from brokerweb.api.shapes.links import GivenLinksField, LinkSerializer
from brokerweb.topologies.models import Node, Topology, TopologyVersion
from brokerweb.topologies.services import READERS
from brokerweb.topologies.studio import MAX_NOTE
from overlay.systems.registry import walk_policies
from overlay.topologies.advice import LARGEST, MOST_LINKS


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
        fields = [
            "id",
            "name",
            "kind",
            "brokers",
            "params",
            "seed",
            "measures",
            "version",
            "owner",
            "created",
            "updated",
        ]


class TopologySerializer(TopologySummarySerializer):
    links = LinkSerializer(many=True, read_only=True)
    nodes = NodeSerializer(many=True, read_only=True)

    class Meta(TopologySummarySerializer.Meta):
        fields = [*TopologySummarySerializer.Meta.fields, "links", "nodes"]


class TopologyBody(Body):
    name = serializers.CharField(max_length=100)
    kind = serializers.CharField(max_length=40, help_text="One of the kinds of GET /api/topologies/kinds/")
    brokers = serializers.IntegerField(required=False, help_text="Number of brokers; kind central has one")
    params = ObjectField(required=False, help_text="Parameters of the generator, and conditions of every link")
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    links = GivenLinksField(required=False, help_text="For kind custom: [[a, b], …]")


class TopologyImportBody(Body):
    name = serializers.CharField(max_length=100)
    format = serializers.ChoiceField(choices=list(READERS))
    text = serializers.CharField(trim_whitespace=False, help_text="The document to import")


class DrawnNodeSerializer(serializers.Serializer):
    name = serializers.CharField(required=False, allow_blank=True, help_text="Empty: named by its index")
    x = serializers.FloatField(min_value=0, max_value=1)
    y = serializers.FloatField(min_value=0, max_value=1, help_text="From top to bottom")


@extend_schema_field(DrawnNodeSerializer(many=True))
class DrawnNodesField(serializers.JSONField):
    """Parsed by ``studio.read_graph``, which names the error."""


class DrawnBody(Body):
    """A topology as edited, saved or not."""

    nodes = DrawnNodesField(help_text="Brokers in order; links refer to their position, from 0")
    links = GivenLinksField(help_text="[[a, b], …] or objects with a, b and link conditions")


class EditedBody(DrawnBody):
    version = serializers.IntegerField(required=False, help_text="The version that was edited; alternative to If-Match")
    name = serializers.CharField(required=False, max_length=100)
    note = serializers.CharField(required=False, allow_blank=True, max_length=MAX_NOTE)


class ExaminedBody(DrawnBody):
    policy = serializers.ChoiceField(
        choices=list(walk_policies()), default=next(iter(walk_policies())), help_text="Walk policy of the estimate"
    )


class AdvisedBody(DrawnBody):
    k = serializers.IntegerField(min_value=1, max_value=MOST_LINKS, default=3)
    goal = serializers.ChoiceField(choices=list(LARGEST), default="walk")


class WalkSerializer(serializers.Serializer):
    """An estimate from walks by the brokers' policy, from random brokers to content on a few others."""

    policy = serializers.CharField()
    holders = serializers.IntegerField()
    walks = serializers.IntegerField()
    found = serializers.FloatField(help_text="Share of walks that found the content")
    hops = serializers.FloatField(allow_null=True, help_text="Mean over successful walks")
    margin = serializers.FloatField(allow_null=True, help_text="Margin of the mean, 95 % confidence")


class ExaminedSerializer(serializers.Serializer):
    warnings = serializers.ListField(child=serializers.CharField())
    measures = ObjectField()
    structure = ObjectField(help_text="cycles, cycle, bridges, bridge_ends, clustering")
    walk = WalkSerializer()


class AddedSerializer(serializers.Serializer):
    a = serializers.IntegerField()
    b = serializers.IntegerField()
    before = serializers.FloatField(allow_null=True, help_text="Mean hops without it; null if disconnected")
    after = serializers.FloatField(allow_null=True)


class AdviceSerializer(serializers.Serializer):
    goal = serializers.CharField()
    links = AddedSerializer(many=True)


class VersionSerializer(serializers.ModelSerializer):
    by: Any = serializers.CharField(source="by.username", default="")

    class Meta:
        model = TopologyVersion
        fields = ["number", "at", "by", "note", "size"]


class TopologyDifferenceSerializer(serializers.Serializer):
    """Brokers are given by their index: in the old version if removed, else in the new one."""

    old = serializers.SerializerMethodField(help_text="Number of the version compared")
    new = serializers.SerializerMethodField(help_text="Number of the version compared with")
    brokers_added = serializers.ListField(child=serializers.IntegerField())
    brokers_removed = serializers.ListField(child=serializers.IntegerField())
    brokers_moved = serializers.ListField(child=serializers.IntegerField())
    brokers_renamed = serializers.ListField(child=serializers.ListField())
    links_added = LinkSerializer(many=True)
    links_removed = LinkSerializer(many=True)
    links_changed = serializers.ListField(child=LinkSerializer(many=True), help_text="Pairs: before, after")

    def get_old(self, found: object) -> int:
        return self.context["old"]

    def get_new(self, found: object) -> int:
        return self.context["new"]
