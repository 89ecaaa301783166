"""Bodies of data copies."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class HoldingSerializer(serializers.Serializer):
    entity = serializers.CharField(help_text="type|id|scope")
    queries = serializers.IntegerField(help_text="Requests intended during the measurement")
    per_s = serializers.FloatField()
    holders = serializers.IntegerField(help_text="Brokers with a copy from its provider or by hash, at the end")
    replicas = serializers.IntegerField(help_text="Brokers with only a replica")


class HoldingListSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    brokers = serializers.IntegerField(help_text="Brokers that reported their data; killed ones did not")
    entities = serializers.IntegerField()
    copies = serializers.IntegerField(help_text="Copies of all entities, including replicas")
    left_out = serializers.IntegerField(help_text="Keys beyond the 1,000 that each broker reports")
    exponent = serializers.FloatField(allow_null=True, help_text="Exponent of copies over the query rate")
    exponent_error = serializers.FloatField(allow_null=True, help_text="Its standard error")
    exponent_entities = serializers.IntegerField(help_text="Entities in the fit: queried and held")
    square_root = serializers.FloatField(help_text="The optimal exponent for random search: 0.5")
    results: Any = HoldingSerializer(many=True)
