"""Bodies of context requests and responses."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, ObjectField


class ContextBody(Body):
    provider = serializers.CharField(max_length=200)
    payload = serializers.JSONField(help_text="An object of strings, or the payload's text")
    valid_ms = serializers.IntegerField(required=False, default=120_000, min_value=1, max_value=31_536_000_000)


class ContextSerializer(serializers.Serializer):
    """An entry returned by a broker."""

    provider = serializers.CharField()
    payload = ObjectField(allow_null=True, help_text="The payload's pairs; null if the text is not made of pairs")
    text = serializers.CharField(help_text="The payload as stored")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()
    age_ms = serializers.IntegerField(help_text="Milliseconds since it was stored")
    broker = serializers.CharField(help_text="The queried broker, host:port")
    broker_index = serializers.IntegerField(help_text="Its index in the network")
    walk = serializers.CharField(
        allow_null=True, help_text="URL of its walk and hops, available within 2 s, for traced queries"
    )


class ProvidedSerializer(serializers.Serializer):
    broker = serializers.CharField(help_text="The broker that accepted it, host:port")
    broker_index = serializers.IntegerField(help_text="Its index in the network")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()
