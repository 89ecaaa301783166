"""Shapes of what is written on runs, and of what is done with many of them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body
from brokerweb.experiments.models import SavedView, Tag
from brokerweb.runlist.bulk import ACTIONS, MOST_RUNS

FILTER_HELP = "In the filter language: topology = ring and p95 < 2ms and tag = nightly"


class LabelsBody(Body):
    """What is not named stays."""

    note = serializers.CharField(required=False, allow_blank=True, help_text="At most 4,000 characters")
    tags: Any = serializers.ListField(child=serializers.CharField(), required=False, help_text="All of them")
    kept = serializers.BooleanField(required=False, help_text="Retention passes it by")


class BulkBody(Body):
    """``q`` or ``runs`` says with which."""

    action = serializers.ChoiceField(choices=list(ACTIONS))
    q = serializers.CharField(required=False, allow_blank=True, help_text=FILTER_HELP)
    runs: Any = serializers.ListField(child=serializers.CharField(), required=False, max_length=MOST_RUNS)
    tag = serializers.CharField(required=False, help_text="Of the actions tag and untag")
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Only say what would be done")


class BulkSerializer(serializers.Serializer):
    action = serializers.CharField()
    tag = serializers.CharField()
    dry_run = serializers.BooleanField()
    chosen = serializers.IntegerField(help_text="Runs that were chosen")
    changed = serializers.IntegerField(help_text="Runs that were changed, or with dry_run would be")
    runs = serializers.ListField(child=serializers.CharField(), help_text="Their ids")
    states = serializers.DictField(child=serializers.IntegerField(), help_text="How many of them are in each state")
    left = serializers.DictField(child=serializers.IntegerField(), help_text="Why others are left, and how many")
    estimated_s = serializers.FloatField(help_text="What running them again takes, one after the other")
    sentence = serializers.CharField()


class FieldSerializer(serializers.Serializer):
    """Something that runs are chosen by."""

    name = serializers.CharField()
    what = serializers.CharField(help_text="number, text, choice, flag, moment or tag")
    unit = serializers.CharField(help_text="Of a number alone; empty for a plain one")
    choices = serializers.ListField(child=serializers.CharField())
    help = serializers.CharField()
    example = serializers.CharField(help_text="A condition on it")


class TagSerializer(serializers.ModelSerializer):
    runs = serializers.IntegerField(source="runs_count", read_only=True, help_text="How many runs bear it")

    class Meta:
        model = Tag
        fields = ["name", "runs"]


class TagBody(Body):
    name = serializers.CharField(help_text="Under the name of another tag the two become one")


class SavedViewSerializer(serializers.ModelSerializer):
    id = serializers.CharField(read_only=True)

    class Meta:
        model = SavedView
        fields = ["id", "page", "name", "query", "created"]


class SavedViewBody(Body):
    page = serializers.CharField(required=False, default="runs", help_text="runs or compare")
    name = serializers.CharField()
    query = serializers.CharField(required=False, default="", allow_blank=True, help_text="What stands behind the ?")


class RenameBody(Body):
    name = serializers.CharField()
