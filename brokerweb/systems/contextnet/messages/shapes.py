"""Bodies of the messages of a run."""

from __future__ import annotations

from rest_framework import serializers

from overlay.systems.contextnet.measuring.ledger import COLUMNS
from overlay.systems.contextnet.tracing import STEPS


class NodeMessageStepSerializer(serializers.Serializer):
    at_us = serializers.IntegerField()
    id = serializers.CharField(help_text="Of the message, or of its answer")
    is_answer = serializers.BooleanField()
    place = serializers.CharField(help_text="Node, gateway, application or store")
    step = serializers.ChoiceField(choices=STEPS)
    topic = serializers.CharField(allow_blank=True, help_text="To which it was written, or in which it was read")
    partition = serializers.IntegerField(help_text="Where it was read; otherwise -1")
    position = serializers.IntegerField(help_text="Where it was read; otherwise -1")
    appended_us = serializers.IntegerField(help_text="When the record that was read became durable; otherwise 0")
    detail = serializers.CharField(allow_blank=True, help_text="Why it was given to the store")


class NodeMessagePassageSerializer(serializers.Serializer):
    kind = serializers.CharField(help_text="DATA, or topic and partition of a record")
    sender = serializers.CharField()
    receiver = serializers.CharField()
    sent_us = serializers.IntegerField()
    arrived_us = serializers.IntegerField(allow_null=True, help_text="Null if only its sending is known")
    is_lost = serializers.BooleanField(help_text="Whether its arrival should be known and is not")
    number = serializers.IntegerField(help_text="In the order of sending, from 1")


class NodeMessageSerializer(serializers.Serializer):
    """A message from or to a node; times in microseconds since the launch."""

    id = serializers.CharField()
    direction = serializers.CharField(help_text="inbound: from the node; outbound: to it")
    node = serializers.IntegerField()
    number = serializers.IntegerField(help_text="Among those of this node and direction, from 0")
    outcome = serializers.ChoiceField(choices=COLUMNS)
    at_us = serializers.IntegerField(help_text="When it was due")
    us = serializers.IntegerField(allow_null=True, help_text="RTT: until its answer")
    stored = serializers.BooleanField(help_text="Whether it, or its answer, was stored")
    disconnecting = serializers.BooleanField(help_text="Whether its node is off from time to time")
    traced = serializers.BooleanField()
    steps = NodeMessageStepSerializer(many=True, help_text="If it was traced")
    passages = NodeMessagePassageSerializer(many=True)
