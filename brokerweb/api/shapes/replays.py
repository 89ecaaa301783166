"""Shapes of what one changed thing made of a run."""

from __future__ import annotations

from rest_framework import serializers

from telemetry.reports.paired import REQUESTS, SEEDS


class ChangeSerializer(serializers.Serializer):
    """Exactly one of them, and of which replicates; see `overlay/experiment/whatif.py`."""

    add_link = serializers.ListField(child=serializers.IntegerField(), required=False, help_text="Two brokers")
    cut_link = serializers.ListField(child=serializers.IntegerField(), required=False, help_text="Two brokers")
    kill = serializers.IntegerField(required=False, help_text="A broker, dead from when measuring begins")
    settings = serializers.DictField(required=False, help_text="One setting and its value")
    record_mb = serializers.IntegerField(required=False, help_text="MB that each broker may record")
    replicates = serializers.ChoiceField(
        choices=("one", "all"), required=False, default="one", help_text="This run alone, or every replicate of it"
    )


class IntervalSerializer(serializers.Serializer):
    """With its 95 % interval, over what `over` says."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class OutcomeSerializer(serializers.Serializer):
    before = serializers.CharField()
    after = serializers.CharField()
    requests = serializers.IntegerField()


class SeedSerializer(serializers.Serializer):
    """One pair of runs."""

    seed = serializers.IntegerField(source="after.seed")
    replicate = serializers.IntegerField(source="after.replicate")
    run = serializers.CharField(source="after.pk")
    compared_with = serializers.CharField(source="before.pk")
    pairs = serializers.IntegerField(source="found.pairs")
    mean = serializers.FloatField(source="found.mean.value", allow_null=True)
    median = serializers.FloatField(source="found.median.value", allow_null=True)
    answered_share = serializers.FloatField(source="found.answered_share.value", allow_null=True)


class DifferenceSerializer(serializers.Serializer):
    """Response times in microseconds; negative is faster than before. Of several seeds numbers are sums over them, and
    figures the means of what each of them is in its pair of runs."""

    compared_with = serializers.CharField()
    change = serializers.DictField(help_text="Empty of a run that repeats another")
    over = serializers.ChoiceField(choices=(REQUESTS, SEEDS), help_text="What the intervals are over")
    seeds = serializers.IntegerField()
    by_seed = SeedSerializer(many=True)
    pairs = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Of the pairs, in both runs")
    unpaired = serializers.IntegerField()
    mean = IntervalSerializer()
    median = IntervalSerializer()
    answered_before = serializers.FloatField(allow_null=True, help_text="Share of the pairs that were answered")
    answered_after = serializers.FloatField(allow_null=True)
    answered_share = IntervalSerializer(help_text="The difference of these two")
    faster = serializers.IntegerField()
    slower = serializers.IntegerField()
    before = serializers.FloatField(allow_null=True, help_text="Median response time of these requests in that run")
    after = serializers.FloatField(allow_null=True)
    outcomes = OutcomeSerializer(many=True)
    curve = serializers.ListField(child=serializers.FloatField(), help_text="The difference at each per cent of pairs")
