"""Bodies of traced queries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from telemetry.systems.context_broker.endings import ENDINGS
from telemetry.systems.context_broker.traces import OUTCOMES


class TraceSummarySerializer(serializers.Serializer):
    """A query as reported by brokers."""

    id = serializers.CharField()
    entity = serializers.CharField(help_text="type|id|scope as queried")
    timestamp_ms = serializers.IntegerField(help_text="The request's own timestamp, Unix milliseconds")
    at = serializers.DateTimeField(help_text="The same as ISO 8601")
    asked = serializers.IntegerField(allow_null=True, help_text="Index of the first broker")
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    ms = serializers.FloatField(
        allow_null=True, help_text="From the request's arrival at the first broker to its answer or refusal"
    )
    hops = serializers.IntegerField(help_text="Number of times the request was forwarded")
    messages = serializers.IntegerField(help_text="Messages between brokers for this query")
    replicas = serializers.ListField(child=serializers.IntegerField(), help_text="Brokers that stored a replica")
    partial: Any = serializers.BooleanField(help_text="Whether reports are missing")


class TracePassageSerializer(serializers.Serializer):
    number = serializers.IntegerField(allow_null=True, help_text="Number of a request within the query, from 1")
    kind = serializers.ChoiceField(choices=("request", "lookahead", "answer", "refusal"))
    sender = serializers.IntegerField(help_text="Index of a broker")
    receiver = serializers.IntegerField()
    at_ms = serializers.FloatField(
        allow_null=True, help_text="Send time, since the request's arrival at the first broker"
    )
    ms = serializers.FloatField(allow_null=True, help_text="Duration; null if only one end reported it")
    round_ms = serializers.FloatField(
        allow_null=True, help_text="For a request: time until an answer or refusal came back"
    )


class TraceStepSerializer(serializers.Serializer):
    at_ms = serializers.FloatField(help_text="Since the request's arrival at the first broker")
    broker = serializers.IntegerField()
    step = serializers.CharField()
    peer = serializers.IntegerField(allow_null=True, help_text="The other broker")
    with_consumer = serializers.BooleanField(help_text="Whether the other end is the consumer")
    detail = serializers.CharField()


class TraceClientSerializer(serializers.Serializer):
    """The consumer's record."""

    client = serializers.IntegerField()
    outcome = serializers.CharField()
    status = serializers.IntegerField()
    attempts = serializers.IntegerField()
    truth = serializers.CharField(allow_null=True, help_text="As in samples; null for runs of earlier versions")
    took_ms = serializers.FloatField(help_text="From the first send to the end")
    intended_at_ms = serializers.FloatField()
    sent_at_ms = serializers.FloatField()
    ended_at_ms = serializers.FloatField()


class TraceEndingSerializer(serializers.Serializer):
    """The outcome, as a word and a sentence."""

    name = serializers.ChoiceField(choices=tuple(ENDINGS))
    word = serializers.CharField()
    sentence = serializers.CharField()


class TraceSerializer(TraceSummarySerializer):
    ending = TraceEndingSerializer()
    consumer = serializers.CharField(help_text="host:port")
    silent = serializers.ListField(
        child=serializers.IntegerField(), help_text="Brokers to which it was sent without a report"
    )
    passages: Any = TracePassageSerializer(many=True)
    steps: Any = TraceStepSerializer(many=True)
    client = TraceClientSerializer(allow_null=True, help_text="Null unless exactly one sample matches")


class TraceListSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    traced_one_in = serializers.IntegerField(help_text="One query in this many is traced, plus failed ones")
    kept_one_in = serializers.IntegerField(help_text="Above 1 if only a part of the reported queries is stored")
    results: Any = TraceSummarySerializer(many=True)
