"""Hosts, and networks of brokers that run until they are stopped."""

from typing import Any

from django.conf import settings as django_settings
from django.db import models
from django.utils import timezone

from brokerweb.kit.ids import new_id
from brokerweb.topologies.models import Topology
from overlay.systems.registry import FIRST


class Host(models.Model):
    """A machine with a worker and a supervisor, as its worker last described it."""

    name = models.CharField(primary_key=True, max_length=100)
    heartbeat = models.DateTimeField()
    supervisor = models.JSONField(
        default=dict, blank=True, help_text="PID, version and start time of its supervisor; empty: none"
    )
    problem = models.TextField(blank=True, help_text="Problem that prevents this host from running brokers, if any")
    cores = models.PositiveIntegerField(default=0)
    memory_bytes = models.PositiveBigIntegerField(default=0)
    version = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def alive(self) -> bool:
        """Whether its worker sent a heartbeat recently."""
        return (timezone.now() - self.heartbeat).total_seconds() < django_settings.WORKER_MISSING_SECONDS


class NetworkState(models.TextChoices):
    STARTING = "starting"
    RUNNING = "running"
    DEGRADED = "degraded"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


UP = (NetworkState.RUNNING, NetworkState.DEGRADED)
"""All or the remaining brokers answer."""
DOWN = (NetworkState.STOPPED, NetworkState.FAILED)
"""No process runs."""


class Desired(models.TextChoices):
    RUNNING = "running"
    STOPPED = "stopped"


class Network(models.Model):
    """A deployed topology: its desired state, and the state its supervisor last observed."""

    id: Any = models.CharField(primary_key=True, max_length=20, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    topology = models.ForeignKey(
        Topology,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="networks",
        help_text="None: the default topology of the system",
    )
    system = models.CharField(max_length=40, default=FIRST, editable=False)
    deployed = models.JSONField(default=dict, editable=False, help_text="Brokers and links as deployed")
    settings = models.JSONField(default=dict, blank=True, help_text="Settings of every broker")
    seed = models.PositiveBigIntegerField(default=0)
    secret = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="What its servers derive secrets from, in hexadecimal digits; never shown. Empty: from the seed",
    )
    desired = models.CharField(max_length=10, choices=Desired, default=Desired.RUNNING)
    state = models.CharField(max_length=10, choices=NetworkState, default=NetworkState.STARTING, editable=False)
    reason = models.TextField(blank=True, editable=False)
    host = models.CharField(max_length=100, blank=True)
    version = models.PositiveIntegerField(
        default=0, editable=False, help_text="Increases with every change of deployed, settings or members"
    )
    members = models.JSONField(
        default=dict, editable=False, help_text="Brokers that should not run, by index: drained or removed"
    )
    previous = models.JSONField(default=dict, editable=False, help_text="The document before the last change")
    rollout = models.JSONField(default=dict, editable=False, help_text="Progress of the newest version, as observed")
    epoch = models.PositiveIntegerField(
        default=1, editable=False, help_text="Increases with every start; fences off older ones"
    )
    brokers = models.JSONField(default=list, editable=False, help_text="Each broker as last observed")
    addresses = models.JSONField(
        default=dict, editable=False, help_text="Address of each broker by index, kept while it is stopped"
    )
    owner = models.ForeignKey(django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(default=timezone.now, editable=False)
    changed = models.DateTimeField(default=timezone.now, editable=False, help_text="Time of the last state change")

    class Meta:
        ordering = ["-created"]
        indexes = [models.Index(fields=["-created"])]

    def __str__(self) -> str:
        return self.name


class FaultOrder(models.Model):
    """A request to begin or end a fault of the system at a server, such as a radio that is off; deleted once its
    supervisor has it."""

    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="fault_orders")
    broker = models.PositiveIntegerField(help_text="Index of the server")
    what = models.CharField(max_length=40, help_text="Name of the fault")
    begins = models.BooleanField()
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["network", "broker", "what"], name="one_fault_order")]

    def __str__(self) -> str:
        return f"{self.what} of server {self.broker} of {self.network_id}"


class RestartOrder(models.Model):
    """A request to restart a broker; deleted once its supervisor has started another process."""

    network = models.ForeignKey(Network, on_delete=models.CASCADE, related_name="restart_orders")
    broker = models.PositiveIntegerField(help_text="Index of the broker")
    restarts = models.PositiveIntegerField(help_text="Number of restarts when it was requested")
    by = models.CharField(max_length=150, blank=True, help_text="User who requested it")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["network", "broker"], name="one_order_a_broker")]

    def __str__(self) -> str:
        return f"restart of broker {self.broker} of {self.network_id}"
