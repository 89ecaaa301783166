"""Shapes of what brokers held."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class HoldingSerializer(serializers.Serializer):
    entity = serializers.CharField(help_text="type|id|scope")
    queries = serializers.IntegerField(help_text="Requests intended in measuring")
    per_s = serializers.FloatField()
    holders = serializers.IntegerField(
        help_text="Brokers that had it from its provider, or because a hash says so, when they ended"
    )
    replicas = serializers.IntegerField(help_text="Brokers that kept a replica only")


class HoldingListSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    brokers = serializers.IntegerField(help_text="Brokers that said what they held; one that was killed did not")
    entities = serializers.IntegerField()
    copies = serializers.IntegerField(help_text="Of all entities, at holders and as replicas")
    left_out = serializers.IntegerField(help_text="Keys beyond the 1,000 that each broker names")
    exponent = serializers.FloatField(allow_null=True, help_text="Of copies over the rate of queries")
    exponent_error = serializers.FloatField(allow_null=True, help_text="Its standard error")
    exponent_entities = serializers.IntegerField(help_text="Entities that the fit rests on: asked for, and held")
    square_root = serializers.FloatField(help_text="The exponent at which random searches cost the least: 0.5")
    results: Any = HoldingSerializer(many=True)
