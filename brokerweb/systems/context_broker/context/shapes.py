"""Shapes of context that is provided and asked for."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, ObjectField


class ContextBody(Body):
    provider = serializers.CharField(max_length=200)
    payload = serializers.JSONField(help_text="An object of names and texts, or the payload's text as it is")
    valid_ms = serializers.IntegerField(required=False, default=120_000, min_value=1, max_value=31_536_000_000)


class ContextSerializer(serializers.Serializer):
    """An entry as a broker of the network answered it."""

    provider = serializers.CharField()
    payload = ObjectField(allow_null=True, help_text="The payload's pairs; null if the text is not made of pairs")
    text = serializers.CharField(help_text="The payload as it was provided")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()
    age_ms = serializers.IntegerField(help_text="Milliseconds since it was provided")
    broker = serializers.CharField(help_text="The broker that was asked, host:port")
    broker_index = serializers.IntegerField(help_text="Its index in the network")
    walk = serializers.CharField(
        allow_null=True, help_text="Where its walk and hops are told within 2 s, of a traced ask"
    )


class ProvidedSerializer(serializers.Serializer):
    broker = serializers.CharField(help_text="The broker that took it, host:port")
    broker_index = serializers.IntegerField(help_text="Its index in the network")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()
