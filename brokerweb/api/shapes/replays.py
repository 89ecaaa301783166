"""Bodies of what-if runs and differences."""

from __future__ import annotations

from rest_framework import serializers

from telemetry.reports.paired import REQUESTS, SEEDS


class ChangeSerializer(serializers.Serializer):
    """Exactly one change, and the replicates it applies to; see `overlay/experiment/whatif.py`."""

    add_link = serializers.ListField(child=serializers.IntegerField(), required=False, help_text="Two brokers")
    cut_link = serializers.ListField(child=serializers.IntegerField(), required=False, help_text="Two brokers")
    kill = serializers.IntegerField(required=False, help_text="A broker to kill at the start of measuring")
    settings = serializers.DictField(required=False, help_text="One setting and its new value")
    record_mb = serializers.IntegerField(required=False, help_text="Recording size per server, MB")
    replicates = serializers.ChoiceField(
        choices=("one", "all"), required=False, default="one", help_text="This run only, or every replicate"
    )


class IntervalSerializer(serializers.Serializer):
    """A value with its 95 % interval over the units in `over`."""

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
    """Response times in microseconds; negative is faster than before. With several seeds, counts are sums over seeds
    and figures are means over the pairs of runs.
    """

    compared_with = serializers.CharField()
    change = serializers.DictField(help_text="Empty for a rerun")
    over = serializers.ChoiceField(choices=(REQUESTS, SEEDS), help_text="Unit of the intervals")
    seeds = serializers.IntegerField()
    by_seed = SeedSerializer(many=True)
    pairs = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Pairs answered in both runs")
    unpaired = serializers.IntegerField()
    mean = IntervalSerializer()
    median = IntervalSerializer()
    answered_before = serializers.FloatField(allow_null=True, help_text="Share of pairs answered")
    answered_after = serializers.FloatField(allow_null=True)
    answered_share = IntervalSerializer(help_text="Difference of the two shares")
    faster = serializers.IntegerField()
    slower = serializers.IntegerField()
    before = serializers.FloatField(allow_null=True, help_text="Median response time of these requests in that run")
    after = serializers.FloatField(allow_null=True)
    outcomes = OutcomeSerializer(many=True)
    curve = serializers.ListField(
        child=serializers.FloatField(), help_text="Difference at each percentile of the pairs"
    )
