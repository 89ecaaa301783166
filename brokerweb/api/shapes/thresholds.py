"""Bodies about the thresholds of experiments."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body
from brokerweb.experiments import judging


class ThresholdsBody(Body):
    """The mutable part of an experiment."""

    thresholds = serializers.ListField(
        child=serializers.CharField(allow_blank=True),
        help_text='Complete list of conditions: ["p95 < 2ms", "not_found = 0"]; empty: none',
    )


class JudgeBody(Body):
    thresholds = serializers.ListField(
        child=serializers.CharField(allow_blank=True), help_text='Conditions: ["p95 < 2ms", "not_found = 0"]'
    )
    runs = serializers.ListField(
        child=serializers.CharField(max_length=20),
        required=False,
        allow_null=True,
        default=None,
        max_length=judging.MOST_RUNS,
        help_text="Ids of runs of the experiment's system; default: all runs of the experiment",
    )


class ThresholdResultSerializer(serializers.Serializer):
    text = serializers.CharField()
    value = serializers.FloatField(allow_null=True, help_text="Null if not measured")
    unit = serializers.CharField(help_text="Of the value; empty for counts")
    held = serializers.BooleanField()
    why = serializers.CharField(help_text="The number of requests without an answer, if it matters")


class RunVerdictSerializer(serializers.Serializer):
    run = serializers.CharField()
    state = serializers.CharField()
    passed = serializers.BooleanField(allow_null=True, help_text="Null if the run is not done")
    thresholds = ThresholdResultSerializer(many=True, help_text="In the order of the request; empty if not done")


class JudgedSerializer(serializers.Serializer):
    runs = RunVerdictSerializer(many=True)
