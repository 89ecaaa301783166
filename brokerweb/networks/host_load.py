"""Load and queue lengths of hosts.

Workers publish their load with every heartbeat through the cache: it is valid for seconds only, so it is not stored in
a row.
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
    """The load of this host."""
    memory = psutil.virtual_memory()
    return {
        "load_1min": os.getloadavg()[0],
        "memory_free_bytes": memory.available,
        "disk_free_bytes": psutil.disk_usage(str(settings.VAR)).free,
    }


def tell() -> None:
    """Publish the load of this host; without a cache it is lost."""
    try:
        cache.set(_key(settings.HOST_NAME), measure(), KEEP_S)
    except Exception as error:  # noqa: BLE001  each Redis client has its own classes for "it is away"
        log.debug("the load of this host was not published: %s", error)


def _key(name: str) -> str:
    return f"host:{name}"


def loads_of(hosts: Sequence[Host]) -> dict[str, Any]:
    """Last published load by host name; hosts without one are omitted."""
    try:
        found = cache.get_many([_key(host.name) for host in hosts])
        return {host.name: found[_key(host.name)] for host in hosts if _key(host.name) in found}
    except Exception as error:  # noqa: BLE001  as above
        log.warning("the load of hosts could not be read: %s", error)
        return {}


def queue_lengths(names: Sequence[str]) -> dict[str, int]:
    """Number of waiting tasks by queue; empty without Redis."""
    if not settings.REDIS_URL or not names:
        return {}
    try:
        with redis.Redis.from_url(settings.CELERY_BROKER_URL, socket_timeout=2, socket_connect_timeout=2) as client:
            pipe = client.pipeline(transaction=False)
            for name in names:
                pipe.llen(name)
            return dict(zip(names, pipe.execute(), strict=True))
    except redis.RedisError as error:
        log.warning("queue lengths could not be read: %s", error)
        return {}
