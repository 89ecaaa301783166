"""REST endpoint that tries an aggregability, as its page does. Counterpart: ``trying``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.accounts.rights import Operation
from brokerweb.api.shapes.fields import Body, ObjectField
from brokerweb.systems.radiator.trying import Asked
from overlay.systems.radiator.dry_run import Placed


class TryBody(Body):
    aggregability = serializers.CharField(help_text="An expression, such as {volume: 2}")
    messages = serializers.ListField(
        child=ObjectField(), help_text='{"at_s": 0, "from": "Bob", …}: time, sender, "people" and attributes'
    )
    recipients = serializers.ListField(child=ObjectField(), help_text='{"id": "Bob", …}: name and attributes')
    echo = serializers.BooleanField(required=False, default=False, help_text="Whether senders receive their own")


class PlacedSerializer(serializers.Serializer):
    message = serializers.IntegerField(help_text="From 1")
    recipient = serializers.CharField()
    dimension = serializers.CharField(help_text="Of the queue that it joins: volume, people, time")
    limit = serializers.FloatField()
    left_s = serializers.FloatField(allow_null=True, help_text="When it leaves; null: not with these messages")
    together = serializers.ListField(child=serializers.IntegerField(), help_text="The messages of its aggregate")


class TriedSerializer(serializers.Serializer):
    rows = PlacedSerializer(many=True)


class TryView(APIView):
    operations = {"post": Operation.READ}

    @extend_schema(operation_id="systems_radiator_try", request=TryBody, responses=TriedSerializer)
    def post(self, request: Request) -> Response:
        """Which queue each sample message joins, and when it leaves. Nothing is stored.

        Errors name the object by its line, from 1.
        """
        body = TryBody(data=request.data)
        body.is_valid(raise_exception=True)
        sent = body.validated_data
        asked = Asked(sent["aggregability"], _lines(sent["messages"]), _lines(sent["recipients"]), sent["echo"])
        return Response(TriedSerializer({"rows": map(_told, asked.result())}).data)


def _told(one: Placed) -> dict[str, Any]:
    dimension, limit = one.threshold
    return {**asdict(one), "dimension": dimension, "limit": limit}


def _lines(objects: Sequence[Any]) -> str:
    """One object a line, as on the page."""
    return "\n".join(map(json.dumps, objects))
