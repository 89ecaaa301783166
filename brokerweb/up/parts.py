"""What the house consists of: a literal list of commands, and what each needs to know."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from overlay.deployment.fleet import Lifetime

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Part:
    """One process of the house."""

    name: str
    command: tuple[str, ...]
    lifetime: Lifetime = Lifetime.ALWAYS


def host_name(environment: Mapping[str, str]) -> str:
    """This host's name as queues spell it: lower case, digits and dashes."""
    name = environment.get("WAXWING_HOST") or platform.node()
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "host"


def _python(name: str, *arguments: str, lifetime: Lifetime = Lifetime.ALWAYS) -> Part:
    return Part(name, (sys.executable, *arguments), lifetime)


def _celery(name: str, *arguments: str) -> Part:
    return _python(name, "-m", "celery", "--quiet", "-A", "brokerweb", *arguments)


def _worker(name: str, *arguments: str) -> Part:
    return _celery(name, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat", *arguments)


def preparations() -> list[Part]:
    """What has to be done before the rest starts, in order."""
    return [
        _python("migrate", "manage.py", "migrate", "--no-input", "-v", "0", lifetime=Lifetime.ONCE),
        _python("firststart", "manage.py", "firststart", lifetime=Lifetime.ONCE),
    ]


def house(port: int, host: str, bind: str = "127.0.0.1") -> list[Part]:
    """What then runs until the end; the web listens on ``port`` of the address ``bind``.

    ``docker/compose.yaml`` runs the same, and ``tests/setup/test_docker.py`` holds it to this.

    Workers do not gossip: nobody listens, each would greet the other for a second as it starts, and gossip is what
    Celery fails to restart when Redis was away.
    """
    listens = ("--host", bind, "--port", str(port), "--log-level", "warning", "--timeout-graceful-shutdown", "2")
    web = (*listens, "--http", "brokerweb.heads:HeadDeadline")
    return [
        _python("web", "-m", "uvicorn", "brokerweb.asgi:application", *web),
        _worker("worker", "-n", "waxwing@%h", "-Q", f"host.{host},default", "--pool", "threads", "-c", "4"),
        _worker("spark", "-n", "spark@%h", "-Q", "spark", "--pool", "solo"),
        _celery("beat", "beat", "--pidfile="),
        _python("livefeed", "manage.py", "livefeed"),
    ]
