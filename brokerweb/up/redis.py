"""The choice of Redis servers: named by a variable, a server on the path, or the one bundled with the requirements.

Our own server listens on a random loopback port with a random password, both new at each start, because write access to
the queue allows running tasks. Rejected: a Unix socket, whose URL Celery, Channels and redis-py write differently, and
whose path is limited to 107 bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from overlay.core.errors import WaxwingError
from overlay.log.spec import VALKEY
from overlay.runtime.logs.engines import VARIABLE, kind_of
from overlay.runtime.logs.valkey import instance
from overlay.runtime.redis_server import address_in, find_server, prepare, rules

QUEUE_VARIABLE, LOG_VARIABLE = "REDIS_URL", VARIABLE
"""They name the servers of the queue and of logs."""
RULES = rules("256mb")
"""Memory limit; writes are refused when full. Nothing is lost: tasks are also recorded in rows."""
OF_LOGS = "redis-of-logs"
"""The server of logs: its process and its files."""
ROOM_BYTES = 64_000_000
"""Free space needed before a server without a file writes one again."""


@dataclass(frozen=True)
class Redis:
    """A Redis server: its URL and, for our own, its command."""

    url: str
    command: tuple[str, ...] | None = None


def choose(environment: Mapping[str, str], directory: Path) -> Redis:
    """Choose the server of the queue; writes the configuration of our own one to ``directory``. Raises ``NoEngine``."""
    if environment.get(QUEUE_VARIABLE):
        return Redis(environment[QUEUE_VARIABLE])
    return Redis(*prepare(find_server(QUEUE_VARIABLE, environment.get("PATH")), directory, RULES, "redis"))


def choose_for_logs(environment: Mapping[str, str], directory: Path) -> Redis:
    """The same for the logs of runs and networks, which have a server of their own: its memory may be full, or its disk
    slow, without harm to the queue. Raises ``WaxwingError`` if an address is none."""
    for url in environment.get(LOG_VARIABLE, "").split():
        if kind_of(url) == VALKEY:
            return Redis(url)
    return Redis(*prepare(find_server(LOG_VARIABLE, environment.get("PATH")), directory, instance.RULES, OF_LOGS))


def addresses_of_logs(environment: Mapping[str, str], chosen: Redis) -> str:
    """Of all engines, the chosen server's first. Those of other kinds serve networks whose settings name them."""
    named = [url for url in environment.get(LOG_VARIABLE, "").split() if url != chosen.url]
    return " ".join([chosen.url, *named])


def running_for_logs(directory: Path) -> str:
    """The address of our own server of logs, with its password. Raises ``WaxwingError`` if none answers."""
    try:
        url = address_in(directory, OF_LOGS)
    except (OSError, KeyError, ValueError):
        url = ""
    if not url or not answers(url):
        raise WaxwingError(
            f"no server of logs of `make up` runs here; {LOG_VARIABLE} names another one where it is set"
        )
    return url


def answers(url: str) -> bool:
    """Whether a server answers a ping within a second."""
    from redis import Redis as Client
    from redis.exceptions import RedisError

    try:
        with Client.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
            return bool(client.ping())
    except (RedisError, OSError, ValueError):
        return False


def keep_accepting(url: str, directory: Path) -> str:
    """Let our own server accept writes while its file cannot be written; returns the action taken.

    A server whose append-only file fails refuses all writes; pages would stop updating and workers would have no queue.
    Queued work is also in rows, so the server continues without a file until there is space.
    """
    from redis import Redis as Client
    from redis.exceptions import RedisError

    try:
        with Client.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
            told = client.info("persistence")
            if told["aof_enabled"] and told["aof_last_write_status"] != "ok":
                client.config_set("appendonly", "no")
                return "its file cannot be written; continuing without a file"
            if not told["aof_enabled"] and shutil.disk_usage(directory).free >= ROOM_BYTES:
                client.config_set("appendonly", "yes")
                return "its file can be written again"
    except (RedisError, OSError, KeyError):
        pass  # unavailable, or still no space: tried again later
    return ""


def set_aside(directory: Path) -> Path | None:
    """Move an unreadable queue file aside; returns the new path, or ``None`` if there is none.

    Rows are authoritative; the queue only speeds things up.
    """
    kept, aside = directory / "appendonlydir", directory / "appendonlydir.unreadable"
    if not kept.exists():
        return None
    shutil.rmtree(aside, ignore_errors=True)
    kept.rename(aside)
    return aside
