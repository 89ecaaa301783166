"""Bodies of servers of runs and networks. Fields of queries and entries are those of systems that report them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import ObjectField


class RunBrokerRowSerializer(serializers.Serializer):
    """One server. Unknown values are missing or null. Sizes are in bytes."""

    index = serializers.IntegerField()
    name = serializers.CharField(required=False, help_text="Its process, such as broker-3")
    state = serializers.CharField(required=False)
    address = serializers.CharField(required=False)
    restarts = serializers.IntegerField(required=False)
    reason = serializers.CharField(required=False)
    load_per_s = serializers.FloatField(
        required=False,
        help_text="Messages that make up the load of this system's servers, per second: of the last second, and over "
        "the measurement once it has ended",
    )
    cores = serializers.FloatField(required=False, allow_null=True, help_text="1 is one busy core; null if unknown")
    entries = serializers.IntegerField(required=False, help_text="Entries in its table")
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
    t_s = serializers.FloatField(
        allow_null=True, help_text="Seconds since the launch of the newest report of any server"
    )
    results = RunBrokerRowSerializer(many=True)


class NeighbourSerializer(serializers.Serializer):
    index = serializers.IntegerField(allow_null=True)
    address = serializers.CharField()
    state = serializers.ChoiceField(
        choices=("joined", "lost", "left", "refused", "linked", "connecting", "away", "retired"),
        help_text="linked: taken from the topology, not reported by the server; retired: of an earlier tree",
    )
    since_s = serializers.FloatField(allow_null=True, help_text="Seconds since the launch")


class BrokerStepSerializer(serializers.Serializer):
    t_s = serializers.FloatField()
    query = serializers.CharField(help_text="Query id, as in traces")
    entity = serializers.CharField()
    step = serializers.CharField()
    peer = serializers.IntegerField(allow_null=True)
    with_consumer = serializers.BooleanField()
    detail = serializers.CharField()


class TracedMessageSerializer(serializers.Serializer):
    """A message of a traced query."""

    t_s = serializers.FloatField()
    direction = serializers.ChoiceField(choices=("received", "sent"))
    kind = serializers.CharField(help_text="request, lookahead, answer or refusal")
    other = serializers.IntegerField(allow_null=True, help_text="The server at the other end, if known")
    with_consumer = serializers.BooleanField()
    entity = serializers.CharField()
    query = serializers.CharField(help_text="Query id, as in traces")
    detail = serializers.CharField(help_text="Status of a refusal")


class KnownEntrySerializer(serializers.Serializer):
    """An entity known to have been in the server's table."""

    entity = serializers.CharField(help_text="type|id|scope")
    came_as = serializers.ChoiceField(
        choices=("update", "replica", "found"), help_text="found: a traced query was answered with it"
    )
    provider = serializers.CharField(help_text="Provider of an update; else empty")
    t_s = serializers.FloatField(help_text="Time of observation, seconds since the launch")
    left_ms = serializers.IntegerField(allow_null=True, help_text="Remaining validity; null if each provider decides")
    at_most = serializers.BooleanField(help_text="Whether left_ms is an upper bound")


class HeldSerializer(serializers.Serializer):
    """Valid contents of the server's table at its end."""

    t_s = serializers.FloatField()
    own = serializers.ListField(child=serializers.CharField(), help_text="type|id|scope, from providers; at most 50")
    replicas = serializers.ListField(child=serializers.CharField(), help_text="At most 50")
    count = serializers.IntegerField()
    left_out = serializers.IntegerField()


class OwnWordsSerializer(serializers.Serializer):
    """Reports of the server: from its journal, or, for a network's server, from a query to it."""

    index = serializers.IntegerField()
    address = serializers.CharField()
    lives = serializers.IntegerField(help_text="Number of process starts")
    asked = serializers.BooleanField(
        required=False, help_text="True if the server was queried; t_s is then its own clock"
    )
    t_s = serializers.FloatField(help_text="Seconds since the launch of its newest report")
    as_of_unix_us = serializers.IntegerField()
    counters = ObjectField(help_text="Since its process started; only values above 0")
    gauges = ObjectField()
    neighbours = NeighbourSerializer(many=True)
    steps = BrokerStepSerializer(many=True, help_text="Its steps in traced queries, newest first; at most 20")
    messages = TracedMessageSerializer(many=True, help_text="Messages of traced queries, newest first; at most 20")
    entries = KnownEntrySerializer(many=True, help_text="Newest first; at most 30, without expired ones")
    held = HeldSerializer(allow_null=True)


class LastMessageSerializer(serializers.Serializer):
    t_s = serializers.FloatField()
    direction = serializers.ChoiceField(choices=("received", "sent"))
    other = serializers.IntegerField(allow_null=True, help_text="The server at the other end; null for a client")
    address = serializers.CharField()
    kind = serializers.CharField()
    family = serializers.CharField()
    bytes = serializers.IntegerField()
    readable = serializers.BooleanField()
    text = serializers.CharField(help_text="Beginning of the datagram")
    hex = serializers.CharField(help_text="The complete datagram; empty above 2,000 bytes")


class EntrySerializer(serializers.Serializer):
    entity = serializers.CharField(help_text="type|id|scope")
    provider = serializers.CharField()
    came_as = serializers.ChoiceField(choices=("update", "answer"))
    left_ms = serializers.IntegerField(help_text="Remaining validity; negative if expired")


class LatelySerializer(serializers.Serializer):
    """Latest messages and entries of its recording, newest first."""

    as_of_unix_us = serializers.IntegerField()
    messages = LastMessageSerializer(many=True)
    entries = EntrySerializer(many=True)


class RunBrokerSerializer(serializers.Serializer):
    index = serializers.IntegerField()
    t_s = serializers.FloatField(allow_null=True)
    traced_one_in = serializers.IntegerField(help_text="One query in this many is traced; 0: none")
    now = RunBrokerRowSerializer()
    own: Any = OwnWordsSerializer(allow_null=True, help_text="Null until it has reported")
    lately: Any = LatelySerializer(allow_null=True, help_text="Null if the run is not recorded")


class NetworkBrokerSerializer(serializers.Serializer):
    """A server of a network."""

    index = serializers.IntegerField()
    traced_one_in = serializers.IntegerField(help_text="One query in this many is traced; 0: none")
    now = ObjectField(help_text="Its row in the network's `brokers`, with load and memory if known")
    own: Any = OwnWordsSerializer(allow_null=True, help_text="Null if it does not answer")
