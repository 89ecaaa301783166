"""Bodies of recorded messages."""

from __future__ import annotations

from rest_framework import serializers

from telemetry.systems.context_broker.messages import FAMILIES


class MessageSerializer(serializers.Serializer):
    """Times are microseconds since the run's launch."""

    at_us = serializers.IntegerField(help_text="Send time; for a client's message, arrival time")
    arrived_us = serializers.IntegerField(allow_null=True, help_text="Null if its arrival was not recorded")
    sender = serializers.IntegerField(allow_null=True, help_text="Index of a broker; null for a client")
    receiver = serializers.IntegerField(allow_null=True)
    code = serializers.IntegerField(help_text="Message code of the wire protocol; -1 if unreadable")
    kind = serializers.CharField()
    family = serializers.ChoiceField(choices=FAMILIES)
    bytes = serializers.IntegerField()
    lost = serializers.BooleanField(help_text="Sent to a recording broker and never arrived")
    query = serializers.CharField(allow_null=True, help_text="Query id, as in traces")
    text = serializers.CharField(help_text="Beginning of the datagram")


class MessageListSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = MessageSerializer(many=True)
