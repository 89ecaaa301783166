"""Bodies of the publications of a run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class PublicationStepSerializer(serializers.Serializer):
    at_us = serializers.IntegerField()
    broker = serializers.CharField()
    step = serializers.CharField()
    peer = serializers.CharField(allow_blank=True, help_text="The broker or client at the other end")
    subscriptions = serializers.ListField(
        child=serializers.IntegerField(), help_text="Of the client, as numbered on the wire; at most 64"
    )
    candidates = serializers.IntegerField(help_text="Subscriptions of the peer, or of all, that match its content")
    rows = serializers.IntegerField(help_text="Of so many")
    detail = serializers.CharField(allow_blank=True, help_text="What says no")


class PublicationMessageSerializer(serializers.Serializer):
    kind = serializers.CharField()
    sender = serializers.CharField()
    receiver = serializers.CharField()
    sent_us = serializers.IntegerField()
    arrived_us = serializers.IntegerField(allow_null=True, help_text="Null if only its sending is known")
    is_lost = serializers.BooleanField(help_text="Whether its arrival should be known and is not")
    number = serializers.IntegerField(allow_null=True, help_text="Among the messages between brokers, from 1")


class PublicationDeliverySerializer(serializers.Serializer):
    client = serializers.CharField()
    subscriptions = serializers.ListField(child=serializers.IntegerField())
    received_us = serializers.IntegerField()


class PublicationAgainstSerializer(serializers.Serializer):
    client = serializers.CharField()
    subscriptions = serializers.IntegerField()
    candidates = serializers.IntegerField(help_text="Of these, whose content matches")
    says = serializers.CharField(help_text="What says no")


class PublicationWaySerializer(serializers.Serializer):
    """A publication of a run of SilboPS; times in microseconds since its launch."""

    id = serializers.CharField()
    publisher = serializers.CharField()
    number = serializers.IntegerField()
    attributes = serializers.CharField(help_text="Names, with commas")
    at_us = serializers.IntegerField(help_text="Its intended instant")
    us = serializers.IntegerField(allow_null=True, help_text="From there until its last delivery")
    outcome = serializers.ChoiceField(choices=("delivered", "undelivered", "refused"))
    due = serializers.IntegerField(help_text="Clients that should get it")
    delivered = serializers.IntegerField(help_text="Clients that got it")
    kept = serializers.IntegerField(help_text="Of them, those that were away meanwhile")
    lost = serializers.IntegerField()
    excused = serializers.IntegerField(help_text="Not delivered because of a fault or the limits of what is kept")
    causes = serializers.CharField(allow_blank=True, help_text="Of what is excused: fault, kept")
    spurious = serializers.IntegerField(help_text="Clients that should not have got it")
    repeats = serializers.IntegerField(help_text="Copies that an application got")
    traced = serializers.BooleanField()
    sent_us = serializers.IntegerField(help_text="When the application called publish")
    notification = serializers.DictField()
    context: Any = serializers.DictField(help_text="All of the publisher's")
    scope = serializers.CharField(allow_blank=True, help_text="The publisher's function")
    steps = PublicationStepSerializer(many=True, help_text="If it was traced")
    messages = PublicationMessageSerializer(many=True)
    deliveries = PublicationDeliverySerializer(many=True)
    without = PublicationAgainstSerializer(
        many=True,
        allow_null=True,
        help_text="Subscribers that did not get it, by what they had set when it was published; null: too many",
    )
