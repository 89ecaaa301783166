"""Shapes of the published claims, judged."""

from __future__ import annotations

from rest_framework import serializers

from telemetry.systems.context_broker.claims.criteria import INCONCLUSIVE, NOT, REPRODUCED, SHAPE_ONLY, UNKNOWN
from telemetry.systems.context_broker.claims.matrix import PARTS


class ClaimsPartSerializer(serializers.Serializer):
    part = serializers.ChoiceField(choices=PARTS, help_text="180 s, 900 s, or data on one broker of ten")
    experiment = serializers.CharField(help_text="Whose runs they are: this one's, or the newest other one's")
    runs = serializers.IntegerField()
    configurations = serializers.IntegerField()
    seeds = serializers.IntegerField()


class ClaimsFigureSerializer(serializers.Serializer):
    """A ratio: its geometric mean over seeds, and the 95 % interval of that."""

    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Seeds")
    published = serializers.FloatField(allow_null=True, help_text="Of Table B.1, which has one run of each")


class ClaimSerializer(serializers.Serializer):
    name = serializers.CharField()
    claim = serializers.CharField()
    criterion = serializers.CharField()
    shape = serializers.CharField(help_text="What is enough for shape only")
    written = serializers.CharField(help_text="When the criterion was")
    verdict = serializers.ChoiceField(choices=(REPRODUCED, SHAPE_ONLY, NOT, INCONCLUSIVE, UNKNOWN))
    figures = ClaimsFigureSerializer(many=True)


class ClaimsCutSerializer(serializers.Serializer):
    """Mean response time of 900 s / of 180 s, paired by seed."""

    config = serializers.IntegerField(help_text="Of Table B.1")
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    changes_nothing = serializers.BooleanField(allow_null=True, help_text="null: neither shown nor refuted")


class ClaimsSerializer(serializers.Serializer):
    parts = ClaimsPartSerializer(many=True)
    claims = ClaimSerializer(many=True)
    cut = ClaimsCutSerializer(many=True)
