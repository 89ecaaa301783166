"""Liveness, readiness and metrics for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from brokerweb.bridges.models import Bridge, BridgeState
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Host, Network, NetworkState
from brokerweb.networks.services import host_here, worker_missing
from brokerweb.reports.models import Report, ReportState
from brokerweb.storage import free_space
from telemetry.formatting import sentence


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Liveness: this process responds."""
    return JsonResponse({"alive": True, "version": settings.VERSION})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Readiness to execute runs: 200, or 503 with the missing parts."""
    checks = {name: _told(check) for name, check in CHECKS.items()}
    missing = [told for told in checks.values() if told]
    body = {
        "ready": not missing,
        "checks": {name: not told for name, told in checks.items()},
        "missing": missing,
    }
    response = JsonResponse(body, status=503 if missing else 200)
    # Polled continuously during start-up; logging it would drown the log.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _told(check: Callable[[], str]) -> str:
    try:
        return check()
    except (DatabaseError, OSError) as error:
        return f"Database error: {error}."


def _database() -> str:
    Host.objects.exists()
    return ""


def _redis() -> str:
    if not settings.REDIS_URL:
        return ""
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as client:
            client.ping()
    except redis.RedisError as error:
        return f"Redis is unavailable: {error}."
    return ""


def _supervisor() -> str:
    host = host_here()
    if host is None or not host.alive:
        return ""  # reported by the check of the worker
    return "" if host.supervisor else f"This host has no broker supervisor: {host.problem}"


def _disk() -> str:
    return sentence(free_space.refusal())


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "redis": _redis,
    "worker": worker_missing,
    "supervisor": _supervisor,
    "disk": _disk,
}


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics, for clients on this machine or authenticated ones."""
    if not (request.user.is_authenticated or ip_address(request.META["REMOTE_ADDR"] or "0.0.0.0").is_loopback):  # noqa: S104
        return HttpResponse(
            "Metrics are available from this machine or with authentication.", status=403, content_type="text/plain"
        )
    registry = CollectorRegistry()
    _states(registry, "waxwing_runs", "Runs by state", Run, RunState.values)
    _states(registry, "waxwing_networks", "Networks by state", Network, NetworkState.values)
    _states(registry, "waxwing_bridges", "Bridges of networks by state", Bridge, BridgeState.values)
    _states(registry, "waxwing_reports", "Reports by state", Report, ReportState.values)
    age = Gauge(
        "waxwing_worker_heartbeat_age_seconds",
        "Seconds since the last heartbeat of a host's worker",
        ["host"],
        registry=registry,
    )
    brokers = Gauge("waxwing_network_brokers", "Brokers of a network by state", ["network", "state"], registry=registry)
    for host in Host.objects.all():
        age.labels(host.name).set((timezone.now() - host.heartbeat).total_seconds())
    for network in Network.objects.exclude(state=NetworkState.STOPPED):
        for broker in network.brokers:
            brokers.labels(network.name, broker["state"]).inc()
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _states(registry: CollectorRegistry, name: str, text: str, model: Any, states: list[str]) -> None:
    gauge = Gauge(name, text, ["state"], registry=registry)
    counts = dict(model.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in states:
        gauge.labels(state).set(counts.get(state, 0))
