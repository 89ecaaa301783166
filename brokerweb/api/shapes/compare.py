"""Shapes of a comparison."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import ObjectField
from telemetry.reports.grouping import VERDICTS


class EstimateSerializer(serializers.Serializer):
    """A figure of a group, in its measure's unit; the 95 % interval is null where `method` says why."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Replicates that the interval is over")
    method = serializers.CharField()


class ComparedDifferenceSerializer(EstimateSerializer):
    """The group's mean minus the baseline's; ``method`` says which mean. Of times, sizes and rates the interval is that
    of the ratio, less 1 and times the baseline's."""

    verdict = serializers.ChoiceField(choices=VERDICTS, help_text="What the interval shows")
    share = serializers.FloatField(allow_null=True, help_text="Of the baseline's mean")


class ComparedGroupSerializer(serializers.Serializer):
    """Runs whose replicates are taken together."""

    number = serializers.IntegerField(help_text="Its place in the order of the parameters, from 1")
    configuration = serializers.CharField(help_text="The first of its configurations, by which it is pinned")
    configurations = serializers.ListField(child=serializers.CharField())
    label: Any = serializers.CharField()
    engine = serializers.CharField()
    role = serializers.ChoiceField(choices=("measured", "shaped", "simulated"))
    parameters = ObjectField(help_text="What tells it from the others")
    n = serializers.IntegerField(help_text="Runs")
    runs = serializers.ListField(child=serializers.CharField())
    figures = serializers.DictField(child=EstimateSerializer(), help_text="By the measure's name")
    published = serializers.FloatField(allow_null=True, help_text="What Table B.1 has of these very configurations")
    is_baseline = serializers.BooleanField()
    difference = ComparedDifferenceSerializer(allow_null=True)


class ComparedMeasureSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField(help_text="us, ms, bytes, per_s, share, cores or nothing")
    better = serializers.CharField(help_text="lower, higher, or nothing where neither way is an improvement")


class ComparedParameterSerializer(serializers.Serializer):
    name = serializers.CharField()
    unit = serializers.CharField()
    values: Any = serializers.ListField(child=serializers.JSONField())


class BaselineSerializer(serializers.Serializer):
    text = serializers.CharField(help_text="As it was asked for")
    label: Any = serializers.CharField()
    runs = serializers.IntegerField()


class ComparisonSerializer(serializers.Serializer):
    """One page of the groups, and what is said of all of them."""

    count = serializers.IntegerField(help_text="Groups")
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField(help_text="Finished runs that are compared")
    not_done = serializers.IntegerField(help_text="Runs that were chosen and have no result")
    repeats = serializers.IntegerField(help_text="Simulated runs left out, of which a later one is the same")
    changed = serializers.IntegerField(help_text="What-if runs left out, since the filter does not ask for them")
    metrics = ComparedMeasureSerializer(many=True)
    aggregate = serializers.CharField()
    by = serializers.ListField(child=serializers.CharField())
    differing = ComparedParameterSerializer(many=True)
    baseline = BaselineSerializer(allow_null=True)
    verdicts = serializers.DictField(
        child=serializers.IntegerField(), allow_null=True, help_text="How often each was given; null without a baseline"
    )
    results = ComparedGroupSerializer(many=True)


class DistributionSerializer(serializers.Serializer):
    """Response times of one group, all its replicates together: answered requests, from the intended sending."""

    configuration = serializers.CharField()
    label: Any = serializers.CharField()
    answers = serializers.IntegerField(help_text="Requests that are in it")
    runs = serializers.IntegerField(help_text="Runs whose samples are in it")
    missing = serializers.IntegerField(help_text="Runs whose samples are not there")
    skipped = serializers.IntegerField(help_text="Runs left out, as the samples of all would be too many")
    us = serializers.ListField(child=serializers.FloatField(), help_text="Microseconds for each of `shares`, exact")
    n = serializers.IntegerField(
        help_text="Replicates: runs of one configuration; of several, seeds that all of them ran with"
    )
    low_us = serializers.ListField(
        child=serializers.FloatField(),
        help_text="The least that a replicate has at each of `shares`; empty with fewer than two replicates",
    )
    high_us = serializers.ListField(child=serializers.FloatField(), help_text="And the most")


class DistributionsSerializer(serializers.Serializer):
    shares = serializers.ListField(child=serializers.FloatField(), help_text="Shares of the answers, 0 to 1")
    results = DistributionSerializer(many=True)
