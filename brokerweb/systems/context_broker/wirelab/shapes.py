"""Bodies of the wire lab."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.systems.context_broker.wirelab.pasted import FORMS
from brokerweb.systems.context_broker.wirelab.verdicts import Judgement


class DecodeBody(serializers.Serializer):
    """A datagram in one of four forms."""

    text = serializers.CharField(trim_whitespace=False, help_text="The message, hexadecimal digits, a dump, or Base64")
    form = serializers.ChoiceField(choices=list(FORMS), required=False, default="", help_text="Default: detected")


class ComposeBody(serializers.Serializer):
    code = serializers.IntegerField(min_value=0, max_value=255)
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        help_text="By name, as in entity_id; what is left out has its default. Times may be relative: now+120s",
    )


class SendBody(serializers.Serializer):
    """One of `network` and `run`."""

    network = serializers.CharField(required=False, help_text="Id of a running network")
    run = serializers.CharField(required=False, help_text="Id of a live run")
    broker = serializers.IntegerField(help_text="Index of one that is up")
    hex = serializers.CharField(help_text="The datagram as hexadecimal digits")


class WireFieldSerializer(serializers.Serializer):
    name = serializers.CharField()
    kind = serializers.CharField()
    offset = serializers.IntegerField(help_text="Of its first byte")
    length = serializers.IntegerField(help_text="In bytes")
    hex = serializers.CharField()
    text = serializers.CharField(help_text="At most 160 characters of it; what does not print is spelled out")
    words = serializers.CharField(help_text="What it says, where its text does not say it")
    problem = serializers.CharField(help_text="Empty where nothing is wrong with it")
    depth = serializers.IntegerField(help_text="Above 0 of a message within the message")


class VerdictSerializer(serializers.Serializer):
    """Verdict of a broker without neighbours and data, for a datagram from this machine now."""

    judgement = serializers.ChoiceField(choices=[one.value for one in Judgement])
    sentence = serializers.CharField()
    status = serializers.IntegerField(allow_null=True, help_text="Of the NACK that refuses it")
    answers = serializers.ListField(child=serializers.CharField(), help_text="What it sends back at once")
    needs = serializers.CharField(help_text="Settings without which a broker does not know the message")


class DecodedSerializer(serializers.Serializer):
    bytes = serializers.IntegerField()
    hex = serializers.CharField()
    text = serializers.CharField()
    read_as = serializers.CharField(help_text="The form that the text was taken for")
    code = serializers.IntegerField(allow_null=True, help_text="Null where it is none that is known")
    name = serializers.CharField()
    fields = WireFieldSerializer(many=True)  # type: ignore[assignment]
    missing = serializers.ListField(child=serializers.CharField(), help_text="Fields that should follow its last byte")
    problems = serializers.ListField(child=serializers.CharField())
    verdict = VerdictSerializer()


class HeardSerializer(DecodedSerializer):
    after_us = serializers.FloatField(help_text="Microseconds after the datagram was sent")


class SentSerializer(serializers.Serializer):
    broker = serializers.IntegerField()
    address = serializers.CharField()
    sentence = serializers.CharField()
    answers = HeardSerializer(many=True)


class RecordedMessageSerializer(DecodedSerializer):
    number = serializers.IntegerField()
    at_us = serializers.IntegerField(help_text="Since the run's launch")
    arrived_us = serializers.IntegerField(allow_null=True)
    sender = serializers.IntegerField(allow_null=True, help_text="Index of a broker; null for a client")
    receiver = serializers.IntegerField(allow_null=True)
    lost = serializers.BooleanField()
    query = serializers.CharField(allow_null=True)


class RecordedRowSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    at_us = serializers.IntegerField()
    arrived_us = serializers.IntegerField(allow_null=True)
    sender = serializers.IntegerField(allow_null=True)
    receiver = serializers.IntegerField(allow_null=True)
    code = serializers.IntegerField()
    kind = serializers.CharField()
    bytes = serializers.IntegerField()
    lost = serializers.BooleanField()
    query = serializers.CharField(allow_null=True)
    text = serializers.CharField(help_text="How it begins")


class RecordedPageSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    results = RecordedRowSerializer(many=True)
