"""Shapes of the brokers of a run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import ObjectField


class RunBrokerRowSerializer(serializers.Serializer):
    """A broker as the run's picture shows it; what is not known is left out or null. Sizes are bytes."""

    index = serializers.IntegerField()
    state = serializers.CharField(required=False)
    address = serializers.CharField(required=False)
    restarts = serializers.IntegerField(required=False)
    reason = serializers.CharField(required=False)
    load_per_s = serializers.FloatField(
        required=False,
        help_text="Messages that make up the load of this system's servers, per second: of the last second, and over "
        "measuring once that has ended",
    )
    cores = serializers.FloatField(
        required=False, allow_null=True, help_text="1 is one core kept busy; null where it is not known"
    )
    entries = serializers.IntegerField(required=False, help_text="In its table")
    neighbours = serializers.IntegerField(required=False)
    uss_bytes = serializers.FloatField(required=False, allow_null=True)
    rss_bytes = serializers.FloatField(required=False, allow_null=True)
    pss_bytes = serializers.FloatField(required=False, allow_null=True)
    over_idle_bytes = serializers.FloatField(required=False, allow_null=True)
    table_bytes = serializers.FloatField(required=False, allow_null=True)


class RunBrokerListSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    t_s = serializers.FloatField(allow_null=True, help_text="Seconds since the launch, of the newest word of any")
    results = RunBrokerRowSerializer(many=True)


class NeighbourSerializer(serializers.Serializer):
    index = serializers.IntegerField(allow_null=True)
    address = serializers.CharField()
    state = serializers.ChoiceField(
        choices=("joined", "lost", "left", "refused", "linked"),
        help_text="linked: so in the topology, and the broker reported nothing of it",
    )
    since_s = serializers.FloatField(allow_null=True, help_text="Seconds since the launch")


class BrokerStepSerializer(serializers.Serializer):
    t_s = serializers.FloatField()
    query = serializers.CharField(help_text="Its id, as in traces")
    entity = serializers.CharField()
    step = serializers.CharField()
    peer = serializers.IntegerField(allow_null=True)
    with_consumer = serializers.BooleanField()
    detail = serializers.CharField()


class TracedMessageSerializer(serializers.Serializer):
    """A message of a query that was traced."""

    t_s = serializers.FloatField()
    direction = serializers.ChoiceField(choices=("received", "sent"))
    kind = serializers.CharField(help_text="request, lookahead, answer or refusal")
    other = serializers.IntegerField(allow_null=True, help_text="The broker at its other end, where it is one known")
    with_consumer = serializers.BooleanField()
    entity = serializers.CharField()
    query = serializers.CharField(help_text="Its id, as in traces")
    detail = serializers.CharField(help_text="Of a refusal, its status")


class KnownEntrySerializer(serializers.Serializer):
    """An entity that lay in its table, as far as that is known without asking it."""

    entity = serializers.CharField(help_text="type|id|scope")
    came_as = serializers.ChoiceField(
        choices=("update", "replica", "found"), help_text="found: a traced query was answered with it"
    )
    provider = serializers.CharField(help_text="Of an update, whose; else empty")
    t_s = serializers.FloatField(help_text="When it was there: seconds since the launch")
    left_ms = serializers.IntegerField(
        allow_null=True, help_text="How long it is still valid; null where that is each provider's business"
    )
    at_most = serializers.BooleanField(help_text="Whether left_ms only bounds it")


class HeldSerializer(serializers.Serializer):
    """What lay in its table when it ended, as far as it was valid."""

    t_s = serializers.FloatField()
    own = serializers.ListField(child=serializers.CharField(), help_text="type|id|scope, from providers; at most 50")
    replicas = serializers.ListField(child=serializers.CharField(), help_text="At most 50")
    count = serializers.IntegerField()
    left_out = serializers.IntegerField()


class OwnWordsSerializer(serializers.Serializer):
    """What it wrote in its journal; a broker of a network, which keeps none, is asked itself."""

    index = serializers.IntegerField()
    address = serializers.CharField()
    lives = serializers.IntegerField(help_text="How often its process began")
    asked = serializers.BooleanField(required=False, help_text="True where it was asked itself; its t_s is its own")
    t_s = serializers.FloatField(help_text="Seconds since the launch, of its newest word")
    as_of_unix_us = serializers.IntegerField()
    counters = ObjectField(help_text="Since its process began; only those above 0")
    gauges = ObjectField()
    neighbours = NeighbourSerializer(many=True)
    steps = BrokerStepSerializer(many=True, help_text="What it did with traced queries, newest first; at most 20")
    messages = TracedMessageSerializer(many=True, help_text="Of traced queries, newest first; at most 20")
    entries = KnownEntrySerializer(many=True, help_text="Newest first; at most 30, without those that expired")
    held = HeldSerializer(allow_null=True)


class LastMessageSerializer(serializers.Serializer):
    t_s = serializers.FloatField()
    direction = serializers.ChoiceField(choices=("received", "sent"))
    other = serializers.IntegerField(allow_null=True, help_text="The broker at its other end; null for a client")
    address = serializers.CharField()
    kind = serializers.CharField()
    family = serializers.CharField()
    bytes = serializers.IntegerField()
    readable = serializers.BooleanField()
    text = serializers.CharField(help_text="How the datagram begins")
    hex = serializers.CharField(help_text="The whole datagram; empty of one above 2,000 bytes")


class EntrySerializer(serializers.Serializer):
    entity = serializers.CharField(help_text="type|id|scope")
    provider = serializers.CharField()
    came_as = serializers.ChoiceField(choices=("update", "answer"))
    left_ms = serializers.IntegerField(help_text="How long it was still valid; negative where it had expired")


class LatelySerializer(serializers.Serializer):
    """The end of its recording, the newest first."""

    as_of_unix_us = serializers.IntegerField()
    messages = LastMessageSerializer(many=True)
    entries = EntrySerializer(many=True)


class RunBrokerSerializer(serializers.Serializer):
    index = serializers.IntegerField()
    t_s = serializers.FloatField(allow_null=True)
    traced_one_in = serializers.IntegerField(help_text="One query in so many is traced; 0 for none")
    now = RunBrokerRowSerializer()
    own: Any = OwnWordsSerializer(allow_null=True, help_text="Null while it has written nothing")
    lately: Any = LatelySerializer(allow_null=True, help_text="Null of a run that is not recorded")


class NetworkBrokerSerializer(serializers.Serializer):
    """A broker of a network that stays up."""

    index = serializers.IntegerField()
    traced_one_in = serializers.IntegerField(help_text="One query in so many is traced; 0 for none")
    now = ObjectField(help_text="Its row of the network's brokers, with its load and memory where they are known")
    own: Any = OwnWordsSerializer(allow_null=True, help_text="Null where it does not answer")
