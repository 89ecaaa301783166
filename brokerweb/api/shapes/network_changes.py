"""Bodies of changes of a network."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, ObjectField
from brokerweb.networks import changes


class ChangeBody(Body):
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Only list the steps")
    allow_split = serializers.BooleanField(
        required=False, default=False, help_text="Also if some brokers can no longer reach each other"
    )
    version = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=2**31 - 1,
        help_text="The version that was read; 409 if there is a newer one",
    )


class AddBrokerBody(ChangeBody):
    links = serializers.ListField(
        child=serializers.IntegerField(min_value=0), max_length=1_000, help_text="Indices of its neighbours"
    )


class LinkBody(ChangeBody):
    a = serializers.IntegerField(min_value=0, help_text="Index of a broker")
    b = serializers.IntegerField(min_value=0, help_text="Index of another broker")


class NetworkPatch(ChangeBody):
    name = serializers.CharField(required=False, max_length=100)
    settings = ObjectField(required=False, help_text="Settings to change; the others stay")


class NewTopologyBody(ChangeBody):
    topology = serializers.CharField(
        required=False, allow_null=True, default=None, help_text="A topology's id; none: the newest version of its own"
    )


class StepSerializer(serializers.Serializer):
    step = serializers.ChoiceField(choices=["start", "join", "cut", "drain", "replace"], source="verb")
    brokers = serializers.ListField(child=serializers.IntegerField(), help_text="One, or the ends of a link")
    splits = serializers.BooleanField(help_text="Whether some brokers cannot reach each other afterwards")
    words = serializers.SerializerMethodField()

    def get_words(self, step: Any) -> str:
        return changes.words(step)


class NetworkChangeSerializer(serializers.Serializer):
    version = serializers.IntegerField(help_text="That of the network with this change; unchanged if nothing differs")
    dry_run = serializers.BooleanField(source="is_dry")
    steps = StepSerializer(many=True, help_text="From the network as last observed; empty while it does not run")
    remarks = serializers.ListField(child=serializers.CharField(), help_text="What to know before")
    added = serializers.ListField(child=serializers.IntegerField(), help_text="Indices of new brokers")


class LeftSerializer(serializers.Serializer):
    step = serializers.CharField()
    brokers = serializers.ListField(child=serializers.IntegerField())
    words = serializers.CharField()


class RolloutSerializer(serializers.Serializer):
    version = serializers.IntegerField(help_text="The newest version")
    state = serializers.ChoiceField(
        choices=["done", "rolling", "paused", "refused", "stopped"],
        help_text="paused: a broker that the next step waits for has failed; stopped: the network does not run",
    )
    steps = serializers.IntegerField(help_text="Steps of this version")
    left = LeftSerializer(many=True)
    waits_for = serializers.CharField(allow_blank=True, help_text="What the next step waits for, or why it was refused")
    previous = serializers.IntegerField(allow_null=True, help_text="The version that a rollback returns to")
