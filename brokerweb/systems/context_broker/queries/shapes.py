"""Shapes of single queries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from telemetry.systems.context_broker.endings import ENDINGS
from telemetry.systems.context_broker.traces import OUTCOMES


class TraceSummarySerializer(serializers.Serializer):
    """One query as the brokers reported it."""

    id = serializers.CharField()
    entity = serializers.CharField(help_text="type|id|scope as asked")
    timestamp_ms = serializers.IntegerField(help_text="The request's own timestamp, Unix milliseconds")
    at = serializers.DateTimeField(help_text="The same as a time")
    asked = serializers.IntegerField(allow_null=True, help_text="Index of the broker that the consumer asked")
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    ms = serializers.FloatField(
        allow_null=True, help_text="From the request's arrival at the broker asked to its answer or refusal"
    )
    hops = serializers.IntegerField(help_text="How often it was passed on as a request")
    messages = serializers.IntegerField(help_text="All that went between brokers for it")
    replicas = serializers.ListField(child=serializers.IntegerField(), help_text="Brokers that kept a replica")
    partial: Any = serializers.BooleanField(help_text="Whether something of it was not reported")


class TracePassageSerializer(serializers.Serializer):
    number = serializers.IntegerField(allow_null=True, help_text="Of a request: its number within its query, from 1")
    kind = serializers.ChoiceField(choices=("request", "lookahead", "answer", "refusal"))
    sender = serializers.IntegerField(help_text="Index of a broker")
    receiver = serializers.IntegerField()
    at_ms = serializers.FloatField(
        allow_null=True, help_text="When it was sent, since the request arrived at the broker asked"
    )
    ms = serializers.FloatField(allow_null=True, help_text="How long it took; null where only one end reported it")
    round_ms = serializers.FloatField(
        allow_null=True, help_text="Of a request: until an answer or a refusal was back from its receiver"
    )


class TraceStepSerializer(serializers.Serializer):
    at_ms = serializers.FloatField(help_text="Since the request arrived at the broker asked")
    broker = serializers.IntegerField()
    step = serializers.CharField()
    peer = serializers.IntegerField(allow_null=True, help_text="The broker that it came from or went to")
    with_consumer = serializers.BooleanField(help_text="Whether it came from or went to the consumer")
    detail = serializers.CharField()


class TraceClientSerializer(serializers.Serializer):
    """What the consumer itself wrote down."""

    client = serializers.IntegerField()
    outcome = serializers.CharField()
    status = serializers.IntegerField()
    attempts = serializers.IntegerField()
    truth = serializers.CharField(allow_null=True, help_text="As in samples; null of runs from before it was known")
    took_ms = serializers.FloatField(help_text="From its first sending to its end")
    intended_at_ms = serializers.FloatField()
    sent_at_ms = serializers.FloatField()
    ended_at_ms = serializers.FloatField()


class TraceEndingSerializer(serializers.Serializer):
    """How it ended, in a word and in a sentence."""

    name = serializers.ChoiceField(choices=tuple(ENDINGS))
    word = serializers.CharField()
    sentence = serializers.CharField()


class TraceSerializer(TraceSummarySerializer):
    ending = TraceEndingSerializer()
    consumer = serializers.CharField(help_text="host:port")
    silent = serializers.ListField(
        child=serializers.IntegerField(), help_text="Brokers to which it was sent and which reported nothing of it"
    )
    passages: Any = TracePassageSerializer(many=True)
    steps: Any = TraceStepSerializer(many=True)
    client = TraceClientSerializer(allow_null=True, help_text="Null unless one sample alone can be this query's")


class TraceListSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    traced_one_in = serializers.IntegerField(help_text="Of all queries one in so many; those that failed besides")
    kept_one_in = serializers.IntegerField(help_text="More than 1 where a run reported more steps than are kept")
    results: Any = TraceSummarySerializer(many=True)
