"""Bodies of the wire lab, and messages of recorded runs."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body
from brokerweb.wirelab.lab import Judgement
from brokerweb.wirelab.pasted import FORMS


class DecodeBody(Body):
    """A datagram in one of four forms; a system with binary messages has no text."""

    text = serializers.CharField(trim_whitespace=False, help_text="The message, hexadecimal digits, a dump, or Base64")
    form = serializers.ChoiceField(choices=list(FORMS), required=False, default="", help_text="Default: detected")


class ComposeBody(Body):
    code = serializers.IntegerField(min_value=0, max_value=255)
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.CharField(
            allow_blank=True,
            trim_whitespace=False,
            error_messages={"invalid": "must be a string or a number; JSON is written as a string"},
        ),
        required=False,
        help_text="By name; omitted fields have defaults. Times may be relative: now+120s",
    )


class SendBody(Body):
    """One of `network` and `run`."""

    network = serializers.CharField(required=False, help_text="Id of a running network")
    run = serializers.CharField(required=False, help_text="Id of a live run")
    broker = serializers.IntegerField(help_text="Index of a running server")
    hex = serializers.CharField(help_text="The datagram as hexadecimal digits")


class WireFieldSerializer(serializers.Serializer):
    name = serializers.CharField()
    kind = serializers.CharField()
    offset = serializers.IntegerField(help_text="Of the first byte")
    length = serializers.IntegerField(help_text="In bytes")
    hex = serializers.CharField()
    text = serializers.CharField(help_text="At most 160 characters; non-printing ones are escaped")
    words = serializers.CharField(help_text="Its meaning, if the text does not show it")
    problem = serializers.CharField(help_text="Empty if it is valid")
    depth = serializers.IntegerField(help_text="Above 0 inside a nested message")


class VerdictSerializer(serializers.Serializer):
    """Verdict of a server with the default settings, alone, for a datagram from this machine now."""

    judgement = serializers.ChoiceField(choices=[one.value for one in Judgement])
    sentence = serializers.CharField()
    status = serializers.IntegerField(allow_null=True, help_text="Status of the answer that refuses it")
    answers = serializers.ListField(child=serializers.CharField(), help_text="Datagrams it sends back immediately")
    needs = serializers.CharField(help_text="Settings that a server needs to accept the message")


class DecodedSerializer(serializers.Serializer):
    bytes = serializers.IntegerField()
    hex = serializers.CharField()
    text = serializers.CharField(help_text="As UTF-8, with replacement characters if it is not")
    summary = serializers.CharField(help_text="Its content in one line")
    inside = serializers.CharField(help_text="Content of its last field, inflated; empty in text messages")
    read_as = serializers.CharField(help_text="The detected form of the text")
    code = serializers.IntegerField(allow_null=True, help_text="Null if unknown")
    name = serializers.CharField()
    fields = WireFieldSerializer(many=True)  # type: ignore[assignment]
    missing = serializers.ListField(child=serializers.CharField(), help_text="Missing fields at the end")
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
    arrived_us = serializers.IntegerField(allow_null=True, help_text="Null if lost or unknown")
    sender = serializers.IntegerField(allow_null=True, help_text="Index of a server; null for a client")
    receiver = serializers.IntegerField(allow_null=True)
    sender_address = serializers.CharField(allow_null=True, help_text="Null if only indices are stored")
    receiver_address = serializers.CharField(allow_null=True)
    lost = serializers.BooleanField(allow_null=True, help_text="Null if unknown")
    query = serializers.CharField(allow_null=True)


class RecordedRowSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    at_us = serializers.IntegerField()
    arrived_us = serializers.IntegerField(allow_null=True, help_text="Null if lost or unknown")
    sender = serializers.IntegerField(allow_null=True, help_text="Index of a server; null for a client")
    receiver = serializers.IntegerField(allow_null=True)
    sender_address = serializers.CharField(allow_null=True, help_text="Null if only indices are stored")
    receiver_address = serializers.CharField(allow_null=True)
    code = serializers.IntegerField(help_text="-1 if unreadable")
    kind = serializers.CharField()
    family = serializers.CharField(allow_blank=True, help_text="Of the replay; empty if its system has none")
    bytes = serializers.IntegerField()
    lost = serializers.BooleanField(allow_null=True, help_text="Null if unknown")
    query = serializers.CharField(allow_null=True)
    text = serializers.CharField(help_text="How it begins")


class RecordedPageSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    is_cut = serializers.BooleanField(
        help_text="Whether the run has more messages than can be listed; captures have all"
    )
    results = RecordedRowSerializer(many=True)
