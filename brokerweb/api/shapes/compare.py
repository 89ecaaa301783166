"""Bodies of a comparison."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import ObjectField
from telemetry.reports.grouping import VERDICTS


class EstimateSerializer(serializers.Serializer):
    """A figure of a group in its measure's unit. If the 95 % interval is null, `method` gives the reason."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Number of replicates of the interval")
    method = serializers.CharField()


class ComparedDifferenceSerializer(EstimateSerializer):
    """The group's mean minus the baseline's; ``method`` names the kind of mean. For times, sizes and rates the interval
    is that of the ratio minus 1, times the baseline's mean.
    """

    verdict = serializers.ChoiceField(choices=VERDICTS, help_text="Verdict from the interval")
    share = serializers.FloatField(allow_null=True, help_text="Relative to the baseline's mean")


class ComparedGroupSerializer(serializers.Serializer):
    """Runs aggregated as replicates."""

    number = serializers.IntegerField(help_text="Position in the order of the parameters, from 1")
    configuration = serializers.CharField(help_text="Hash of its first configuration; identifies the group")
    configurations = serializers.ListField(child=serializers.CharField())
    label: Any = serializers.CharField()
    engine = serializers.CharField()
    role = serializers.ChoiceField(choices=("measured", "shaped", "simulated"))
    parameters = ObjectField(help_text="Parameters that distinguish it from the other groups")
    n = serializers.IntegerField(help_text="Runs")
    runs = serializers.ListField(child=serializers.CharField())
    figures = serializers.DictField(child=EstimateSerializer(), help_text="By measure name")
    published = serializers.FloatField(allow_null=True, help_text="Published values of the same configurations")
    is_baseline = serializers.BooleanField()
    difference = ComparedDifferenceSerializer(allow_null=True)


class ComparedMeasureSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField(help_text="us, ms, bytes, per_s, share, cores or nothing")
    better = serializers.CharField(help_text="lower, higher, or empty if neither is better")


class ComparedParameterSerializer(serializers.Serializer):
    name = serializers.CharField()
    unit = serializers.CharField()
    values: Any = serializers.ListField(child=serializers.JSONField())


class BaselineSerializer(serializers.Serializer):
    text = serializers.CharField(help_text="As requested")
    label: Any = serializers.CharField()
    runs = serializers.IntegerField()


class ComparisonSerializer(serializers.Serializer):
    """One page of groups, and totals over all groups."""

    count = serializers.IntegerField(help_text="Groups")
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField(help_text="Finished runs compared")
    not_done = serializers.IntegerField(help_text="Selected runs without a result")
    repeats = serializers.IntegerField(help_text="Simulated runs excluded because a later run repeats them")
    changed = serializers.IntegerField(help_text="What-if runs excluded because the filter does not select them")
    metrics = ComparedMeasureSerializer(many=True)
    aggregate = serializers.CharField()
    by = serializers.ListField(child=serializers.CharField())
    differing = ComparedParameterSerializer(many=True)
    baseline = BaselineSerializer(allow_null=True)
    verdicts = serializers.DictField(
        child=serializers.IntegerField(), allow_null=True, help_text="Count by verdict; null without a baseline"
    )
    results = ComparedGroupSerializer(many=True)


class DistributionSerializer(serializers.Serializer):
    """Response times of one group, samples of all replicates pooled: answered requests, from the intended send time."""

    configuration = serializers.CharField()
    label: Any = serializers.CharField()
    answers = serializers.IntegerField(help_text="Number of requests")
    runs = serializers.IntegerField(help_text="Runs with samples")
    missing = serializers.IntegerField(help_text="Runs without samples")
    skipped = serializers.IntegerField(help_text="Runs skipped to limit the number of samples")
    us = serializers.ListField(child=serializers.FloatField(), help_text="Microseconds at each of `shares`, exact")
    n = serializers.IntegerField(
        help_text="Replicates: runs of one configuration, or seeds common to several configurations"
    )
    low_us = serializers.ListField(
        child=serializers.FloatField(),
        help_text="Minimum over replicates at each of `shares`; empty with fewer than two replicates",
    )
    high_us = serializers.ListField(
        child=serializers.FloatField(), help_text="Maximum over replicates at each of `shares`"
    )


class DistributionsSerializer(serializers.Serializer):
    shares = serializers.ListField(child=serializers.FloatField(), help_text="Shares of the answers, 0 to 1")
    results = DistributionSerializer(many=True)
