"""Bodies of context requests and responses."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, ObjectField

LONGEST_PROVIDER = 200
VALID_MS = 120_000
LONGEST_VALID_MS = 31_536_000_000
STRATEGIES = ("holder", "walk", "next", "hedged", "chosen", "view")


class ContextBody(Body):
    provider = serializers.CharField(max_length=LONGEST_PROVIDER)
    payload = serializers.JSONField(help_text="An object of strings, or the payload's text")
    valid_ms = serializers.IntegerField(required=False, default=VALID_MS, min_value=1, max_value=LONGEST_VALID_MS)


class ContextSerializer(serializers.Serializer):
    """An entry returned by a broker."""

    provider = serializers.CharField()
    payload = ObjectField(allow_null=True, help_text="The payload's pairs; null if the text is not made of pairs")
    text = serializers.CharField(help_text="The payload as stored")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()
    age_ms = serializers.IntegerField(help_text="Milliseconds since it was stored")
    broker = serializers.CharField(help_text="The queried broker, host:port")
    broker_index = serializers.IntegerField(help_text="Its index in the network")
    hops = serializers.IntegerField(
        allow_null=True, help_text="0 if the queried broker has the data; null if only a trace can tell"
    )
    strategy = serializers.ChoiceField(
        choices=STRATEGIES,
        help_text="How the broker was chosen: one known to have the data, the first of the entity's order, the next "
        "one, a second one while the first was silent, or the one requested; in lists view: no broker was queried",
    )
    walk = serializers.CharField(
        allow_null=True, help_text="URL of its walk and hops, available within 2 s, for traced queries"
    )


class ListedContext(ContextSerializer):
    """An entry in the view of the network; no broker was asked for it."""

    type = serializers.CharField()
    entity = serializers.CharField()
    scope = serializers.CharField()
    broker = serializers.CharField(allow_null=True, help_text="A broker that holds it, host:port")
    broker_index = serializers.IntegerField(allow_null=True, help_text="Its index in the network")
    holders = serializers.ListField(child=serializers.IntegerField(), help_text="Indexes of all brokers that hold it")
    etag = serializers.CharField(help_text="As `ETag` of the entry")


class MissingBroker(serializers.Serializer):
    """A broker whose data may be missing."""

    broker = serializers.CharField(allow_null=True, help_text="host:port")
    broker_index = serializers.IntegerField()
    reason = serializers.CharField(
        help_text="Its state if it does not run, or `unread`, `silent`, `refused` (it does not trust this host), `full`"
    )


class ContextPage(serializers.Serializer):
    """One page, in the order of type, entity, scope and provider."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null at the end")
    complete = serializers.BooleanField(help_text="Whether all brokers were read")
    missing = MissingBroker(many=True)
    last_event_id = serializers.CharField(help_text="A stream that resumes behind it has all changes since")
    results = ListedContext(many=True)


class DeletedSerializer(serializers.Serializer):
    provider = serializers.CharField(help_text="Whose data are no longer served")
    deleted_at = serializers.DateTimeField(help_text="Older data of this provider are refused from now on")
    pending = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Indexes of brokers that have not confirmed, and are asked again until they do or have started again",
    )


class ProvidedSerializer(serializers.Serializer):
    broker = serializers.CharField(help_text="The broker that accepted it, host:port")
    broker_index = serializers.IntegerField(help_text="Its index in the network")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()


class BatchOperation(Body):
    """`get` needs the names only, `delete` the provider if there are several, `put` what the body of `PUT` has."""

    op = serializers.ChoiceField(choices=("get", "put", "delete"))
    type = serializers.CharField()
    entity = serializers.CharField()
    scope = serializers.CharField()
    provider = serializers.CharField(required=False, max_length=LONGEST_PROVIDER)
    payload = serializers.JSONField(required=False, help_text="An object of strings, or the payload's text")
    valid_ms = serializers.IntegerField(required=False, default=VALID_MS, min_value=1, max_value=LONGEST_VALID_MS)


class BatchBody(Body):
    atomic = serializers.BooleanField(required=False, default=False, help_text="All are checked before any is sent")
    operations = serializers.ListField(child=BatchOperation(), min_length=1, max_length=1_000)


class BatchResult(serializers.Serializer):
    """`status`, and the body of the single request's answer, or of its error."""

    status = serializers.IntegerField(help_text="That of the single request; 424: not sent, an earlier one failed")


class BatchSerializer(serializers.Serializer):
    results = BatchResult(many=True, help_text="In the order of the operations")
