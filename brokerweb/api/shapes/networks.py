"""Bodies of networks and hosts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.api.shapes.fields import OBJECT, Body, MomentField, ObjectField
from brokerweb.kit.moments import moment
from brokerweb.live import hosts
from brokerweb.live.hosts import HostNow
from brokerweb.networks import quotas
from brokerweb.networks.models import Host, Network
from brokerweb.networks.probes import TIERS
from overlay.systems.registry import FIRST


class NetworkBody(Body):
    name = serializers.CharField(max_length=100)
    topology = serializers.CharField(
        required=False, allow_null=True, default=None, help_text="A topology's id; none: the default of the system"
    )
    system = serializers.CharField(required=False, default=FIRST, help_text="Name of a system, see /api/systems/")
    settings = ObjectField(required=False)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


class StartBody(Body):
    new_addresses = serializers.BooleanField(
        required=False, default=False, help_text="Whether every broker gets another address"
    )


class FaultBody(Body):
    what = serializers.CharField(max_length=40, help_text="A fault of the system: offline or move of a mobile broker")
    begins = serializers.BooleanField(required=False, default=True, help_text="False ends a fault that lasts")


class BrokerSerializer(serializers.Serializer):
    index = serializers.IntegerField()
    name = serializers.CharField(required=False, help_text="Its process: broker-3")
    address = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="starting, up, not answering, restarting, draining, failed or stopped")
    wanted = serializers.CharField(required=False, help_text="running, drained or removed")
    is_old = serializers.BooleanField(required=False, help_text="Whether a change of settings has not reached it yet")
    faults = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Faults that an operator has begun, such as offline"
    )
    accepts = serializers.CharField(
        required=False, help_text="What clients speak that connect by TCP to its address: MQTT 3.1.1"
    )
    reason = serializers.CharField(allow_blank=True)
    restarts = serializers.IntegerField()
    pid = serializers.IntegerField(allow_null=True)
    since_unix_ms = serializers.IntegerField()
    since = MomentField(source="since_unix_ms")


class NetworkSerializer(serializers.ModelSerializer):
    topology: Any = serializers.CharField(source="topology_id", allow_null=True)
    owner: Any = serializers.CharField(source="owner.username", default="")
    settings = ObjectField(read_only=True)
    brokers = BrokerSerializer(many=True, read_only=True)
    restarting = serializers.SerializerMethodField(help_text="Indexes of brokers with a pending restart")

    class Meta:
        model = Network
        fields = [
            "id",
            "name",
            "topology",
            "system",
            "settings",
            "seed",
            "desired",
            "state",
            "reason",
            "brokers",
            "host",
            "epoch",
            "version",
        ]
        fields += ["owner", "created", "changed", "restarting"]

    def get_restarting(self, network: Network) -> list[int]:
        return sorted(order.broker for order in network.restart_orders.all())


class NetworkEventSerializer(serializers.Serializer):
    at = serializers.DateTimeField()
    words = serializers.CharField()
    kind = serializers.CharField(help_text="phase, process, fault or other")
    count = serializers.IntegerField(help_text="Number of identical events merged into it")


class NetworkClientSerializer(serializers.Serializer):
    id = serializers.CharField()
    address = serializers.CharField()
    is_reachable = serializers.BooleanField()
    silent_ms = serializers.IntegerField(allow_null=True, help_text="Since the last sign of life; null: unknown")
    pending = serializers.IntegerField(help_text="Messages retained for it")
    attributes = serializers.CharField(help_text="JSON, shortened")
    own = ObjectField(help_text="Further fields of the system")


class NetworkQueueSerializer(serializers.Serializer):
    queue = serializers.CharField(help_text="What its messages wait for, in the words of the system")
    recipients = serializers.IntegerField()
    messages = serializers.IntegerField()
    oldest_ms = serializers.IntegerField(help_text="Age of the oldest message")
    leaves_in_ms = serializers.IntegerField(allow_null=True, help_text="At the latest; null: no time is set")
    leaves = serializers.CharField(help_text="What it waits for, as a phrase")
    own = ObjectField(help_text="Further fields of the system")


class _PageSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)


class NetworkClientListSerializer(_PageSerializer):
    results = NetworkClientSerializer(many=True)


class NetworkQueueListSerializer(_PageSerializer):
    results = NetworkQueueSerializer(many=True)


def _column(kind: type[serializers.Field], words: str) -> serializers.ListField:
    return serializers.ListField(child=kind(allow_null=True), help_text=words)


class NetworkSeriesSerializer(serializers.Serializer):
    """Columns of equal length, one value per step; null if nothing was measured."""

    range = serializers.ChoiceField(choices=[tier.range for tier in TIERS])
    step_s = serializers.IntegerField()
    broker = serializers.IntegerField(allow_null=True, help_text="Null: all brokers together")
    t = serializers.ListField(child=serializers.IntegerField(), help_text="Start of each step, Unix seconds")
    asked = _column(serializers.IntegerField, "Probes: one ping per broker and second")
    answered = _column(serializers.IntegerField, "Probes answered within 0.9 s")
    answered_share = _column(serializers.FloatField, "Answered of asked, 0 to 1")
    mean_us = _column(serializers.FloatField, "Mean response time of answered probes; null if none")
    p50_us = _column(serializers.FloatField, "Median of the response times")
    p95_us = _column(serializers.FloatField, "95th percentile of the response times")
    answers_per_s = _column(serializers.FloatField, "Queries that a broker answered from its table, per second")
    hops = _column(serializers.FloatField, "Mean number of hops of these queries; null without any")
    load_per_s = _column(serializers.FloatField, "Messages that make up the load of this system's servers, per second")
    cores = _column(serializers.FloatField, "1 is one busy core; sum over all brokers")
    private_bytes = _column(serializers.FloatField, "Private memory (USS); sum over all brokers")


class HostSerializer(serializers.ModelSerializer):
    alive = serializers.BooleanField(read_only=True)
    supervisor = serializers.SerializerMethodField(help_text="PID, version and start time; empty if none")
    load = serializers.SerializerMethodField(help_text="Load of the host; empty if unknown")
    active_runs = serializers.SerializerMethodField(help_text="Active runs; at most three")
    network_brokers = serializers.SerializerMethodField(help_text="Brokers of its networks that run")
    most_network_brokers = serializers.SerializerMethodField(help_text="How many it may run")

    class Meta:
        model = Host
        fields = ["name", "alive", "heartbeat", "supervisor", "problem", "cores", "memory_bytes", "version"]
        fields += ["load", "active_runs", "network_brokers", "most_network_brokers"]

    def _now(self, host: Host) -> HostNow:
        context: Any = self.context  # read once per list
        if "hosts_now" not in context:
            shown: Any = self.parent.instance if self.parent else [host]
            context["hosts_now"] = {one.host.name: one for one in hosts.now(list(shown))}
        return context["hosts_now"][host.name]

    @extend_schema_field(OBJECT)
    def get_supervisor(self, host: Host) -> dict[str, Any]:
        began = host.supervisor.get("started_unix_ms")
        return {**host.supervisor, "started": moment(began)} if began else host.supervisor

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "number"}})
    def get_load(self, host: Host) -> dict[str, float]:
        return self._now(host).load

    def get_network_brokers(self, host: Host) -> int:
        context: Any = self.context  # read once per list
        if "running_by_host" not in context:
            context["running_by_host"] = quotas.running_by_host()
        return int(context["running_by_host"][host.name] + context["running_by_host"][""])

    def get_most_network_brokers(self, host: Host) -> int:
        return settings.MAX_HOST_BROKERS

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_active_runs(self, host: Host) -> list[str]:
        return [run.pk for run in self._now(host).runs]
