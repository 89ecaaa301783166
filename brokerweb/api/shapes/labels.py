"""Bodies of tags, notes, saved views and bulk actions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body
from brokerweb.experiments.models import SavedView, Tag
from brokerweb.runlist.bulk import ACTIONS, MOST_RUNS

FILTER_HELP = "Filter expression: topology = ring and p95 < 2ms and tag = nightly"


class LabelsBody(Body):
    """Fields that are left out stay unchanged."""

    note = serializers.CharField(required=False, allow_blank=True, help_text="At most 4,000 characters")
    tags: Any = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="The complete list of tags"
    )
    kept = serializers.BooleanField(required=False, help_text="Exempt from retention")


class BulkBody(Body):
    """``q`` or ``runs`` selects the runs."""

    action = serializers.ChoiceField(choices=list(ACTIONS))
    q = serializers.CharField(required=False, allow_blank=True, help_text=FILTER_HELP)
    runs: Any = serializers.ListField(child=serializers.CharField(), required=False, max_length=MOST_RUNS)
    tag = serializers.CharField(required=False, help_text="For the actions tag and untag")
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Report the effect without applying it")


class BulkSerializer(serializers.Serializer):
    action = serializers.CharField()
    tag = serializers.CharField()
    dry_run = serializers.BooleanField()
    chosen = serializers.IntegerField(help_text="Number of selected runs")
    changed = serializers.IntegerField(help_text="Number of changed runs; with dry_run, of runs that would change")
    runs = serializers.ListField(child=serializers.CharField(), help_text="Ids of the changed runs")
    states = serializers.DictField(child=serializers.IntegerField(), help_text="Number of changed runs by state")
    left = serializers.DictField(child=serializers.IntegerField(), help_text="Number of unchanged runs by reason")
    estimated_s = serializers.FloatField(help_text="Estimated seconds to rerun them one at a time")
    sentence = serializers.CharField()


class FieldSerializer(serializers.Serializer):
    """A field of the filter language."""

    name = serializers.CharField()
    what = serializers.CharField(help_text="number, text, choice, flag, moment or tag")
    unit = serializers.CharField(help_text="Unit of a plain number; empty if none")
    choices = serializers.ListField(child=serializers.CharField())
    help = serializers.CharField()
    example = serializers.CharField(help_text="Example condition")


class TagSerializer(serializers.ModelSerializer):
    runs = serializers.IntegerField(source="runs_count", read_only=True, help_text="Number of runs with this tag")

    class Meta:
        model = Tag
        fields = ["name", "runs"]


class TagBody(Body):
    name = serializers.CharField(help_text="New name; if another tag has it, the two are merged")


class SavedViewSerializer(serializers.ModelSerializer):
    id = serializers.CharField(read_only=True)

    class Meta:
        model = SavedView
        fields = ["id", "page", "name", "query", "created"]


class SavedViewBody(Body):
    page = serializers.CharField(required=False, default="runs", help_text="runs or compare")
    name = serializers.CharField()
    query = serializers.CharField(required=False, default="", allow_blank=True, help_text="Query string of its URL")


class RenameBody(Body):
    name = serializers.CharField()
