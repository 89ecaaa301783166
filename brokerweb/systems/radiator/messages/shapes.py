"""Bodies of the messages of a run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class MessageStepSerializer(serializers.Serializer):
    at_us = serializers.IntegerField()
    step = serializers.CharField()
    attempt = serializers.IntegerField(help_text="Number of the injection into the chain, from 0")


class ChainHopSerializer(serializers.Serializer):
    client = serializers.IntegerField()
    state = serializers.CharField()
    received_us = serializers.IntegerField(allow_null=True)
    took_us = serializers.IntegerField(allow_null=True, help_text="From the push to the callback")
    steps = MessageStepSerializer(many=True)


class ChainSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    repairs = serializers.IntegerField(help_text="Further injections and direct pushes")
    hops = ChainHopSerializer(many=True)


class PropagationSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    emitted_us = serializers.IntegerField()
    messages = serializers.ListField(child=serializers.IntegerField(), help_text="Numbers of its originals")
    recipients = serializers.IntegerField()
    pushes = serializers.IntegerField()
    chain_count = serializers.IntegerField()
    direct = serializers.ListField(child=serializers.IntegerField(), help_text="Recipients of direct pushes, if traced")
    chains = ChainSerializer(many=True, help_text="Those that were traced, with trouble first")


class MessageQueueSerializer(serializers.Serializer):
    queue = serializers.CharField()
    recipients = serializers.IntegerField()
    delivered = serializers.IntegerField()
    propagation = serializers.IntegerField(allow_null=True, help_text="In which they left")
    state = serializers.CharField(allow_blank=True, help_text="Why there is none")


class UndeliveredSerializer(serializers.Serializer):
    client = serializers.IntegerField()
    state = serializers.CharField()


class MessageWaySerializer(serializers.Serializer):
    """A message of a run; times in microseconds since its launch, pairs by what became of them."""

    id = serializers.CharField()
    client = serializers.IntegerField(allow_null=True, help_text="The sender; null if it reported nothing")
    outcome = serializers.CharField()
    attempts = serializers.IntegerField()
    due_us = serializers.IntegerField()
    sent_us = serializers.IntegerField()
    ended_us = serializers.IntegerField()
    epoch = serializers.CharField(allow_null=True, help_text="Null with number and accepted_us if it was not accepted")
    number = serializers.IntegerField(allow_null=True)
    accepted_us = serializers.IntegerField(allow_null=True)
    due = serializers.IntegerField(help_text="Recipients; the next four add up to it")
    delivered = serializers.IntegerField()
    retained = serializers.IntegerField()
    dropped = serializers.IntegerField()
    failed = serializers.IntegerField()
    late = serializers.IntegerField()
    p50_us = serializers.IntegerField(allow_null=True, help_text="Of the lag")
    p95_us = serializers.IntegerField(allow_null=True)
    propagations: Any = PropagationSerializer(many=True, help_text="In the list of a run: their number")
    traced = serializers.BooleanField()
    queues = MessageQueueSerializer(many=True, help_text="If it was traced")
    undelivered = UndeliveredSerializer(many=True)
