"""Bodies in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, ObjectField
from brokerweb.hosting.shapes import DeliveredSerializer
from brokerweb.systems.federation.models import HostedSubscription, SubscriptionState
from overlay.systems.federation.wire.values import Priority

PRIORITIES = tuple(one.name.lower() for one in Priority)
KINDS = ("once", "stream")
EXPIRES_HELP = "2026-11-29T12:00:00Z"
SCOPE: dict[str, Any] = {"min_length": 1, "max_length": 64, "trim_whitespace": False}


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "array", "items": {}}]})
class ExpressionField(serializers.JSONField):
    """Text, or nested lists."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str | list):
            raise serializers.ValidationError("must be a text or a list", code="invalid")
        return data


class ScopesField(serializers.ListField):
    child = serializers.CharField(**SCOPE)


class SubscriptionBody(Body):
    scopes = ScopesField(min_length=1, max_length=16)
    expression = ExpressionField(
        required=False, help_text='temperature > 25, or ["temperature", ">", 25]; default: all notifications'
    )
    expires = serializers.DateTimeField(help_text=EXPIRES_HELP)
    priority = serializers.ChoiceField(choices=PRIORITIES, required=False, default="normal")
    kind = serializers.ChoiceField(choices=KINDS, required=False, default="stream", help_text="once: a query")
    url = serializers.CharField(required=False, default="", help_text="Is sent notifications by POST")
    client = serializers.CharField(
        required=False, help_text="A consumer registered with advertise; default: that of the account"
    )


class SubscriptionSerializer(DeliveredSerializer):
    id = serializers.CharField()
    client = serializers.CharField(help_text="Its consumer")
    number = serializers.IntegerField(allow_null=True, help_text="Given by its consumer, in ContextML")
    scopes = serializers.ListField(child=serializers.CharField())
    expression = ExpressionField(read_only=True, help_text="As nested lists")
    expires = serializers.DateTimeField()
    priority = serializers.ChoiceField(choices=PRIORITIES)
    kind = serializers.ChoiceField(choices=KINDS)
    url = serializers.CharField()
    state = serializers.ChoiceField(choices=SubscriptionState.choices)
    reason = serializers.CharField(help_text="Why it was refused")
    created = serializers.DateTimeField()
    ended = serializers.DateTimeField(allow_null=True)

    names = ("number", "scopes", "expression", "expires", "url", "state", "reason", "created", "ended")

    def words(self, row: HostedSubscription) -> Mapping[str, Any]:
        return {"priority": PRIORITIES[row.priority], "kind": "once" if row.once else "stream"}


class SubscriptionPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = SubscriptionSerializer(many=True)


class ProviderBody(Body):
    name = serializers.CharField(**SCOPE, help_text="Unique in the network")
    scopes = ScopesField(min_length=1, max_length=64)
    needs = ObjectField(required=False, default=dict, help_text="By scope, a list of scopes whose data it needs first")
    url = serializers.CharField(required=False, default="", help_text="Is asked by GET ?entity=&type=&scope=")
    broker = serializers.IntegerField(required=False, help_text="Index of the broker to begin with")


class ProviderSerializer(serializers.Serializer):
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    needs = ObjectField(read_only=True)
    url = serializers.CharField()
    broker = serializers.IntegerField(allow_null=True)
    created = serializers.DateTimeField()


class ProviderPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = ProviderSerializer(many=True)


class PublishedContent(Body):
    entity_type = serializers.CharField(**SCOPE)
    entity_id = serializers.CharField(**SCOPE)
    scope = serializers.CharField(**SCOPE)
    data: Any = ObjectField(help_text="Texts, numbers, booleans, objects and lists by name")
    valid_ms = serializers.IntegerField(required=False, min_value=1, help_text="From now; or expires")
    expires = serializers.DateTimeField(required=False, help_text=EXPIRES_HELP)
    timestamp = serializers.DateTimeField(required=False, help_text="Default: now")


class PublishBody(PublishedContent):
    provider = serializers.CharField(**SCOPE, help_text="A provider that this account has registered")


class NotificationSerializer(serializers.Serializer):
    provider = serializers.CharField()
    number = serializers.IntegerField(help_text="Rises with each notification of its provider")
    entity_type = serializers.CharField()
    entity_id = serializers.CharField()
    scope = serializers.CharField()
    timestamp = serializers.DateTimeField()
    expires = serializers.DateTimeField()
    data: Any = ObjectField()


class QueryBody(Body):
    scopes = ScopesField(min_length=1, max_length=64)
    entity_type = serializers.CharField(**SCOPE, required=False, help_text="Default: any")
    entity_id = serializers.CharField(**SCOPE, required=False, help_text="Default: any")
    deadline_ms = serializers.IntegerField(required=False, default=5_000, min_value=1, max_value=10_000)


class QueriedSerializer(serializers.Serializer):
    notifications: Any = NotificationSerializer(many=True)


class FoundProviderSerializer(serializers.Serializer):
    id = serializers.CharField()
    endpoint = serializers.CharField(help_text="Its address in the network")
    url = serializers.CharField()


class LookupSerializer(serializers.Serializer):
    results: Any = FoundProviderSerializer(many=True)
