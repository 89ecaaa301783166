"""Bodies of the messages of a run."""

from __future__ import annotations

from rest_framework import serializers

from telemetry.systems.federation.messages import KINDS


class WayStepSerializer(serializers.Serializer):
    at_us = serializers.IntegerField()
    broker = serializers.CharField()
    about = serializers.CharField(help_text="n|PROVIDER|NUMBER, s|CONSUMER|NUMBER or q|ASKER|NUMBER")
    step = serializers.CharField()
    peer = serializers.CharField(help_text="The broker or client at the other end")
    subscriptions = serializers.ListField(child=serializers.CharField(), help_text="Satisfied there; at most 64")
    detail = serializers.CharField(allow_blank=True)
    arrived_us = serializers.IntegerField(help_text="When the message that led to it had arrived")
    waited_us = serializers.IntegerField(help_text="In the queue and the service of a modelled processor")


class WayMessageSerializer(serializers.Serializer):
    kind = serializers.CharField()
    sender = serializers.CharField()
    receiver = serializers.CharField()
    sent_us = serializers.IntegerField()
    arrived_us = serializers.IntegerField(allow_null=True, help_text="Null if only its sending is known")
    is_lost = serializers.BooleanField(help_text="Whether its arrival should be known and is not")
    number = serializers.IntegerField(allow_null=True, help_text="Among the messages between brokers, from 1")


class WayDeliverySerializer(serializers.Serializer):
    client = serializers.CharField()
    number = serializers.IntegerField(help_text="Of the subscription")
    note = serializers.CharField(help_text="Id of the notification")
    received_us = serializers.IntegerField()
    is_cached = serializers.BooleanField()
    hops = serializers.IntegerField()


class FederationMessageSerializer(serializers.Serializer):
    """A notification, subscription or QUERY of a run; times in microseconds since its launch."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    client = serializers.CharField(help_text="Who published, subscribed or asked")
    number = serializers.IntegerField()
    scope = serializers.CharField()
    entity = serializers.CharField(allow_blank=True)
    provider = serializers.CharField(allow_blank=True, help_text="Of a subscription: of its first notification")
    at_us = serializers.IntegerField(help_text="Of a subscription or QUERY: its intended sending")
    us = serializers.IntegerField(allow_null=True, help_text="T_S, or until the last delivery or the answer")
    outcome = serializers.CharField()
    delivered = serializers.IntegerField()
    cached = serializers.BooleanField()
    hops = serializers.IntegerField(allow_null=True)
    lost = serializers.IntegerField()
    in_window = serializers.IntegerField()
    causes = serializers.CharField(allow_blank=True, help_text="Of what is in window")
    note = serializers.CharField(allow_blank=True, help_text="Of a subscription: its first notification")
    traced = serializers.BooleanField()
    sent_us = serializers.IntegerField()
    scopes = serializers.ListField(
        child=serializers.CharField(), help_text="Of a traced QUERY: what its broker asked for, in this order"
    )
    steps = WayStepSerializer(many=True, help_text="If it was traced")
    messages = WayMessageSerializer(many=True)
    deliveries = WayDeliverySerializer(many=True)
