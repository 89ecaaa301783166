"""How busy a host is, and what waits in its queues.

Its worker says how busy it is with every heartbeat, through the cache: it is true for seconds only, so it is in no row.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

import psutil
import redis
from django.conf import settings
from django.core.cache import cache

from brokerweb.networks.models import Host

log = logging.getLogger(__name__)

KEEP_S = 15


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


def loads_of(hosts: Sequence[Host]) -> dict[str, Any]:
    """By name, what each host said last; nothing of those that say nothing."""
    try:
        found = cache.get_many([_key(host.name) for host in hosts])
        return {host.name: found[_key(host.name)] for host in hosts if _key(host.name) in found}
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
