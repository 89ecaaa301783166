"""Shapes of the messages of a recorded run."""

from __future__ import annotations

from rest_framework import serializers

from telemetry.systems.context_broker.messages import FAMILIES


class MessageSerializer(serializers.Serializer):
    """Times are microseconds since the run's launch."""

    at_us = serializers.IntegerField(help_text="When it was sent; of a client's message, when it arrived")
    arrived_us = serializers.IntegerField(allow_null=True, help_text="Null where nobody recorded its arrival")
    sender = serializers.IntegerField(allow_null=True, help_text="Index of a broker; null for a client")
    receiver = serializers.IntegerField(allow_null=True)
    code = serializers.IntegerField(help_text="Of the wire protocol; -1 where it cannot be read")
    kind = serializers.CharField()
    family = serializers.ChoiceField(choices=FAMILIES)
    bytes = serializers.IntegerField()
    lost = serializers.BooleanField(help_text="Sent to a broker that recorded on, and never arrived")
    query = serializers.CharField(allow_null=True, help_text="Id of its query, as in traces")
    text = serializers.CharField(help_text="How the datagram begins")


class MessageListSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = MessageSerializer(many=True)
