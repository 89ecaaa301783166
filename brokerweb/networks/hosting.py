"""What a host does now, for its page: what it runs, how busy it is, what waits in its queues. Read when asked for.

How busy it is, its worker says with every heartbeat, by the cache: it is true for seconds, so it is no row's business.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil
import redis
from django.conf import settings
from django.core.cache import cache

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ACTIVE
from brokerweb.networks.models import DOWN, Host, Network
from brokerweb.reports.models import Report, ReportState

log = logging.getLogger(__name__)

KEEP_S = 15
RUNS_SHOWN = 3
QUEUES = ("default", "spark")


@dataclass
class HostNow:
    """A host with what it does."""

    host: Host
    load: dict[str, Any]
    """``load_1min``, ``memory_free_bytes`` and ``disk_free_bytes``; empty while it says nothing."""
    runs: list[Run] = field(default_factory=list)
    runs_more: int = 0
    networks: list[Network] = field(default_factory=list)
    queued: int | None = None
    """Tasks that wait for its worker; ``None`` where that cannot be asked."""


def measure() -> dict[str, Any]:
    """How busy this host is."""
    memory = psutil.virtual_memory()
    return {
        "load_1min": os.getloadavg()[0],
        "memory_free_bytes": memory.available,
        "disk_free_bytes": psutil.disk_usage(str(settings.VAR)).free,
    }


def tell() -> None:
    """Says how busy this host is; without a cache nobody hears it."""
    try:
        cache.set(_key(settings.HOST_NAME), measure(), KEEP_S)
    except Exception as error:  # noqa: BLE001  each Redis client has its own classes for "it is away"
        log.debug("how busy this host is was not told: %s", error)


def _key(name: str) -> str:
    return f"host:{name}"


def now(hosts: Sequence[Host]) -> list[HostNow]:
    """Each host with what it does; as many questions for many hosts as for one."""
    loads = _loads(hosts)
    names = [host.name for host in hosts]
    found = {host.name: HostNow(host, loads.get(_key(host.name)) or {}) for host in hosts}
    active = Run.objects.filter(host__in=names, state__in=ACTIVE).select_related("experiment")
    for run in active.defer("configuration", "summary", "observed", "experiment__definition").order_by("launched_at"):
        one = found[run.host]
        if len(one.runs) < RUNS_SHOWN:
            one.runs.append(run)
        else:
            one.runs_more += 1
    for network in Network.objects.filter(host__in=names).exclude(state__in=DOWN).defer("deployed"):
        found[network.host].networks.append(network)
    lengths = queue_lengths([f"host.{name}" for name in names])
    for name, one in found.items():
        one.queued = lengths.get(f"host.{name}")
    return list(found.values())


def _loads(hosts: Sequence[Host]) -> dict[str, Any]:
    try:
        return dict(cache.get_many([_key(host.name) for host in hosts]))
    except Exception as error:  # noqa: BLE001  as above
        log.warning("how busy hosts are could not be fetched: %s", error)
        return {}


def queue_lengths(names: Sequence[str]) -> dict[str, int]:
    """Tasks that wait in each queue; empty where there is no Redis to ask."""
    if not settings.REDIS_URL or not names:
        return {}
    try:
        with redis.Redis.from_url(settings.CELERY_BROKER_URL, socket_timeout=2, socket_connect_timeout=2) as client:
            pipe = client.pipeline(transaction=False)
            for name in names:
                pipe.llen(name)
            return dict(zip(names, pipe.execute(), strict=True))
    except redis.RedisError as error:
        log.warning("queues could not be asked for their lengths: %s", error)
        return {}


def shared() -> dict[str, Any]:
    """What hosts share: the queues of short tasks and of Spark, and what Spark computes."""
    computing = Report.objects.filter(state=ReportState.RUNNING).defer("result").first()
    return {"lengths": queue_lengths(QUEUES), "report": computing, "simulating": Run.simulating().count()}
