"""Shapes of networks, their context, and hosts."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.shapes.fields import OBJECT, Body, MomentField, ObjectField
from brokerweb.moments import moment
from brokerweb.networks import hosting
from brokerweb.networks.hosting import HostNow
from brokerweb.networks.models import Host, Network


class NetworkBody(Body):
    name = serializers.CharField(max_length=100)
    topology = serializers.CharField(help_text="A topology's id")
    settings = ObjectField(required=False)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


class BrokerSerializer(serializers.Serializer):
    index = serializers.IntegerField()
    address = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="starting, up, restarting, failed or stopped")
    reason = serializers.CharField(allow_blank=True)
    restarts = serializers.IntegerField()
    pid = serializers.IntegerField(allow_null=True)
    since_unix_ms = serializers.IntegerField()
    since = MomentField(source="since_unix_ms")


class NetworkSerializer(serializers.ModelSerializer):
    topology: Any = serializers.CharField(source="topology_id")
    owner: Any = serializers.CharField(source="owner.username", default="")
    settings = ObjectField(read_only=True)
    brokers = BrokerSerializer(many=True, read_only=True)

    class Meta:
        model = Network
        fields = [
            "id",
            "name",
            "topology",
            "settings",
            "seed",
            "desired",
            "state",
            "reason",
            "brokers",
            "host",
            "epoch",
        ]
        fields += ["owner", "created", "changed"]


class ContextBody(Body):
    provider = serializers.CharField(max_length=200)
    payload = serializers.JSONField(help_text="An object of names and texts, or the payload's text as it is")
    valid_ms = serializers.IntegerField(required=False, default=120_000, min_value=1, max_value=31_536_000_000)


class ContextSerializer(serializers.Serializer):
    """An entry as a broker of the network answered it."""

    provider = serializers.CharField()
    payload = ObjectField(allow_null=True, help_text="The payload's pairs; null if the text is not made of pairs")
    text = serializers.CharField(help_text="The payload as it was provided")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()
    age_ms = serializers.IntegerField(help_text="Milliseconds since it was provided")
    broker = serializers.CharField(help_text="The broker that was asked, host:port")


class ProvidedSerializer(serializers.Serializer):
    broker = serializers.CharField(help_text="The broker that took it, host:port")
    valid_begin = serializers.DateTimeField()
    valid_end = serializers.DateTimeField()


class HostSerializer(serializers.ModelSerializer):
    alive = serializers.BooleanField(read_only=True)
    supervisor = serializers.SerializerMethodField(help_text="Its pid, version and when it started; empty without one")
    load = serializers.SerializerMethodField(help_text="How busy it is; empty while it says nothing")
    active_runs = serializers.SerializerMethodField(help_text="Runs that are under way there: at most three")

    class Meta:
        model = Host
        fields = ["name", "alive", "heartbeat", "supervisor", "problem", "cores", "memory_bytes", "version"]
        fields += ["load", "active_runs"]

    def _now(self, host: Host) -> HostNow:
        context: Any = self.context  # read once for a whole list
        if "hosts_now" not in context:
            shown: Any = self.parent.instance if self.parent else [host]
            context["hosts_now"] = {one.host.name: one for one in hosting.now(list(shown))}
        return context["hosts_now"][host.name]

    @extend_schema_field(OBJECT)
    def get_supervisor(self, host: Host) -> dict[str, Any]:
        began = host.supervisor.get("started_unix_ms")
        return {**host.supervisor, "started": moment(began)} if began else host.supervisor

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "number"}})
    def get_load(self, host: Host) -> dict[str, float]:
        return self._now(host).load

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_active_runs(self, host: Host) -> list[str]:
        return [run.pk for run in self._now(host).runs]
