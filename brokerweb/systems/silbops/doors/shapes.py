"""Bodies in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, ObjectField
from brokerweb.hosting.shapes import CLIENT, DeliveredSerializer
from brokerweb.systems.silbops.models import SilbopsClient, State

SUBSCRIBER, PUBLISHER = "subscriber", "publisher"
"""Clients of an account that names none."""
CONTEXT_HELP = 'Values by name, such as {"x": 5, "y": 8}'
SCOPE_HELP = "A function of context: this.x - 20 <= pub.x <= this.x + 20"


@extend_schema_field({"type": "array", "items": {"type": "array", "items": {}}})
class ConstraintsField(serializers.JSONField):
    """A list of ``[name, operator, value]``."""


class PubsubClientBody(Body):
    context: Any = ObjectField(required=False, help_text=f"{CONTEXT_HELP}; by default as it is")
    broker = serializers.IntegerField(
        required=False, allow_null=True, help_text="Index of the one where it is from now on; null: any"
    )


class PubsubClientSerializer(serializers.Serializer):
    name = serializers.CharField()
    context: Any = ObjectField(allow_null=True, help_text="null: none was set")
    is_publisher = serializers.BooleanField(help_text="Whether it advertises")
    variables = serializers.ListField(
        child=serializers.CharField(), help_text="Of its context, that go with publications"
    )
    broker = serializers.IntegerField(allow_null=True)
    identity = serializers.CharField(help_text="As brokers know it")
    created = serializers.DateTimeField()

    def to_representation(self, row: SilbopsClient) -> Any:
        names = ("name", "context", "is_publisher", "variables", "broker", "identity", "created")
        return super().to_representation({name: getattr(row, name) for name in names})


class PubsubSubscriptionBody(Body):
    where: Any = ConstraintsField(
        required=False, help_text='Constraints, such as [["kind", "=", "fire"]]; default: all'
    )
    scope = serializers.CharField(required=False, default="", allow_blank=True, help_text=SCOPE_HELP)
    client = serializers.CharField(**CLIENT, required=False, default=SUBSCRIBER, help_text="Made at its first use")
    context: Any = ObjectField(required=False, help_text="Of its client from now on; by default as it is")
    url = serializers.CharField(required=False, default="", allow_blank=True, help_text="Is sent notifications by POST")


class PubsubSubscriptionSerializer(DeliveredSerializer):
    id = serializers.CharField()
    client = serializers.CharField()
    where: Any = ConstraintsField()
    scope = serializers.CharField()
    url = serializers.CharField()
    state = serializers.ChoiceField(choices=State.choices)
    reason = serializers.CharField(help_text="Why a broker refused it")
    created = serializers.DateTimeField()
    ended = serializers.DateTimeField(allow_null=True)

    names = ("where", "scope", "url", "state", "reason", "created", "ended")


class PubsubPublicationBody(Body):
    notification: Any = ObjectField(help_text='Values by name, such as {"kind": "fire"}')
    context: Any = ObjectField(
        required=False, help_text=f"Of its publisher from now on; by default as it is. {CONTEXT_HELP}"
    )
    scope = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="The publisher's function, with publisher_scope"
    )
    client = serializers.CharField(**CLIENT, required=False, default=PUBLISHER, help_text="Made at its first use")


class PubsubPublishedSerializer(serializers.Serializer):
    client = serializers.CharField()
    broker = serializers.CharField(help_text="Which received it")


class PubsubWhyBody(PubsubPublicationBody):
    client = serializers.CharField(
        **CLIENT, required=False, default=PUBLISHER, help_text="One that has published such a thing"
    )
    subscription = serializers.CharField(
        required=False, help_text="Of this account; all of its client's are listed at each broker"
    )


class PubsubLinkSerializer(serializers.Serializer):
    kind = serializers.ChoiceField(choices=("broker", "client", "moved"))
    name = serializers.CharField()
    client = serializers.CharField(allow_null=True, help_text="The name of an own client")
    away_s = serializers.FloatField(
        allow_null=True, help_text="Seconds since the client left: what goes to it is kept for a while; null: attached"
    )


class PubsubRowSerializer(serializers.Serializer):
    subscriber = serializers.CharField(help_text="Its key, as with notifications")
    id = serializers.IntegerField(help_text="At its subscriber")
    subscription = serializers.CharField(allow_null=True, help_text="An own one, at the broker of its client")
    link: Any = PubsubLinkSerializer(help_text="By which it came")
    says_no = serializers.CharField(allow_null=True, help_text="The constraint or function; null: it would go there")


class PubsubToldSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    broker = serializers.CharField(help_text="The neighbour")
    state = serializers.CharField(help_text="told, covered, pruned, or not called for")


class PubsubBrokerSerializer(serializers.Serializer):
    broker = serializers.CharField()
    to: Any = PubsubLinkSerializer(many=True, help_text="Where the publication would go")
    rows: Any = PubsubRowSerializer(many=True, help_text="Subscriptions whose content it satisfies, at most 200")
    total = serializers.IntegerField(help_text="Of these rows")
    told: Any = PubsubToldSerializer(many=True, help_text="What neighbours know of the subscriber's")


class PubsubWhySerializer(serializers.Serializer):
    delivered = serializers.BooleanField(
        help_text="Whether the subscriber, or anyone, would get it, now or when it is back"
    )
    brokers: Any = PubsubBrokerSerializer(many=True)


class PubsubClientPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = PubsubClientSerializer(many=True)


class PubsubSubscriptionPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = PubsubSubscriptionSerializer(many=True)
