"""The bootstrap list of a network."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.networks.bootstrap import DOWN, HEALTHY, SILENT, Entry
from overlay.load.choice import BY


class BootstrapBrokerSerializer(serializers.Serializer[Entry]):
    address = serializers.CharField(help_text="host:port")
    broker_index = serializers.IntegerField(source="index")
    health = serializers.ChoiceField(
        [HEALTHY, SILENT, DOWN],
        help_text="healthy: it answers a ping; silent: its process runs and does not answer; down: it does not run",
    )
    state = serializers.CharField(help_text="As in the network's `brokers`")
    round_trip_us = serializers.FloatField(allow_null=True, help_text="Of that ping, from the web process")
    load_per_s = serializers.FloatField(
        allow_null=True, help_text="Messages that make up its load, per second, in the latest probes; null: unknown"
    )
    place = serializers.SerializerMethodField(help_text="x and y in the topology; null: it has no places")

    @extend_schema_field({"type": "array", "items": {"type": "number"}, "nullable": True})
    def get_place(self, entry: Entry) -> list[float] | None:
        return None if entry.place is None else list(entry.place)


class BootstrapSerializer(serializers.Serializer):
    network = serializers.CharField(source="network.pk")
    state = serializers.CharField(source="network.state")
    by = serializers.ChoiceField(BY)
    healthy = serializers.IntegerField(help_text="How many of `brokers` are healthy; they come first")
    checked = serializers.DateTimeField(help_text="When the brokers were pinged")
    renew_after_s = serializers.IntegerField(help_text="When to fetch the list again")
    brokers = BootstrapBrokerSerializer(many=True)
