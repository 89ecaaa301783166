"""Bodies of bridges."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.resources import MARK_HELP
from brokerweb.api.shapes.fields import Body, ObjectField
from brokerweb.bridges import services
from brokerweb.bridges.models import Bridge, BridgeState
from brokerweb.kit import etags
from brokerweb.networks.models import Desired

PATTERN = {"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {}}]}
IN_HELP = "Patterns of topics to read: texts, or objects with pattern, and names for placeholders that it has not"
OUT_HELP = "Patterns of topics to publish"
SETTINGS_HELP = "Further settings, by the names in docs/mqtt.md"


@extend_schema_field({"type": "array", "items": PATTERN})
class PatternsField(serializers.JSONField):
    """A list of patterns."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, list):
            raise serializers.ValidationError("must be a list of patterns", code="invalid")
        return super().to_internal_value(data)


class _Patterns(serializers.Serializer):
    # ``in`` is a word of Python.
    def get_fields(self) -> dict[str, serializers.Field]:
        helps, is_read = {"in": IN_HELP, "out": OUT_HELP}, not isinstance(self, Body)
        patterns = {
            name: PatternsField(required=False, read_only=is_read, help_text=help) for name, help in helps.items()
        }
        return {**super().get_fields(), **patterns}


class BridgeTlsBody(Body):
    """PEM texts; null or an empty text removes one."""

    ca = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, help_text="Certificates of authorities"
    )
    certificate = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, help_text="The client's certificate"
    )
    key = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, help_text="Its key without a password; never shown"
    )


class _BridgeFields(_Patterns, Body):
    username = serializers.CharField(required=False, allow_blank=True)
    password = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, trim_whitespace=False, help_text="Never shown; null: none"
    )
    tls = BridgeTlsBody(required=False, help_text="Of mqtts://; without ca the system's authorities count")
    settings = ObjectField(required=False, help_text=f"{SETTINGS_HELP}; null removes one")
    desired = serializers.ChoiceField(choices=Desired.choices, required=False)


class BridgeBody(_BridgeFields):
    mqtt = serializers.CharField(help_text="The server: mqtt://HOST:PORT, or mqtts:// for TLS")


class BridgeChange(_BridgeFields):
    """What is left out stays."""

    mqtt = serializers.CharField(required=False, help_text="The server: mqtt://HOST:PORT, or mqtts:// for TLS")


class BridgeTlsSerializer(serializers.Serializer):
    ca = serializers.CharField()
    certificate = serializers.CharField()
    has_key = serializers.BooleanField()


class BridgeCountersSerializer(serializers.Serializer):
    """Since the start of its process."""

    messages_in = serializers.IntegerField(help_text="Received from the server")
    messages_out = serializers.IntegerField(help_text="Published")
    refused = serializers.IntegerField(help_text="Messages and entries; the report has the last reason")
    loops_prevented = serializers.IntegerField(help_text="Messages that said what the network knew, such as its own")


class BridgeSerializer(_Patterns):
    number = serializers.IntegerField(help_text="Within its network")
    mqtt = serializers.CharField()
    username = serializers.CharField()
    has_password = serializers.BooleanField()
    tls = BridgeTlsSerializer()
    settings = ObjectField(read_only=True, help_text=SETTINGS_HELP)
    desired = serializers.ChoiceField(choices=Desired.choices)
    state = serializers.ChoiceField(choices=BridgeState.choices)
    reason = serializers.CharField(help_text="Why it is not connected")
    since = serializers.DateTimeField(help_text="Begin of its state")
    counters = BridgeCountersSerializer()
    report = ObjectField(read_only=True, help_text="The status of docs/mqtt.md; up to 5 s old")
    pid = serializers.IntegerField(allow_null=True)
    restarts = serializers.IntegerField()
    owner = serializers.CharField()
    created = serializers.DateTimeField()
    mark = serializers.CharField(help_text=MARK_HELP)

    def to_representation(self, bridge: Bridge) -> Any:
        told = services.told(bridge)
        names = ("number", "reason", "since", "report", "pid", "restarts", "created")
        shown = {name: getattr(bridge, name) for name in names}
        counters = dict.fromkeys(BridgeCountersSerializer().fields, 0) | services.counters(bridge)
        owner = bridge.owner.username if bridge.owner else ""
        more = {"state": bridge.state, "counters": counters, "owner": owner, "mark": etags.mark(told)}
        return super().to_representation({**told, **shown, **more})
