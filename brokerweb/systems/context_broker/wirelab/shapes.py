"""Answers about recorded messages."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.api.shapes.wire import DecodedSerializer


class RecordedMessageSerializer(DecodedSerializer):
    number = serializers.IntegerField()
    at_us = serializers.IntegerField(help_text="Since the run's launch")
    arrived_us = serializers.IntegerField(allow_null=True)
    sender = serializers.IntegerField(allow_null=True, help_text="Index of a broker; null for a client")
    receiver = serializers.IntegerField(allow_null=True)
    lost = serializers.BooleanField()
    query = serializers.CharField(allow_null=True)


class RecordedRowSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    at_us = serializers.IntegerField()
    arrived_us = serializers.IntegerField(allow_null=True)
    sender = serializers.IntegerField(allow_null=True)
    receiver = serializers.IntegerField(allow_null=True)
    code = serializers.IntegerField()
    kind = serializers.CharField()
    bytes = serializers.IntegerField()
    lost = serializers.BooleanField()
    query = serializers.CharField(allow_null=True)
    text = serializers.CharField(help_text="How it begins")


class RecordedPageSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    results = RecordedRowSerializer(many=True)
