"""The processes of an installation: a list of commands and their environment."""

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
    """One process."""

    name: str
    command: tuple[str, ...]
    lifetime: Lifetime = Lifetime.ALWAYS


def host_name(environment: Mapping[str, str]) -> str:
    """This host's name for queue names: lower case, digits and dashes."""
    name = environment.get("WAXWING_HOST") or platform.node()
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "host"


def _python(name: str, *arguments: str, lifetime: Lifetime = Lifetime.ALWAYS) -> Part:
    return Part(name, (sys.executable, *arguments), lifetime)


def _manage(*arguments: str) -> tuple[str, ...]:
    """Without Django's checks of the code, which import all pages and forms: two seconds, and 26 MB if it stays."""
    return "manage.py", *arguments, "--skip-checks"


def _celery(name: str, *arguments: str) -> Part:
    return _python(name, "-m", "celery", "--quiet", "-A", "brokerweb", *arguments)


def _worker(name: str, *arguments: str) -> Part:
    return _celery(name, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat", *arguments)


def preparations() -> list[Part]:
    """One-time steps before the start, in order."""
    return [
        _python("migrate", *_manage("migrate", "--no-input", "-v", "0"), lifetime=Lifetime.ONCE),
        _python("firststart", *_manage("firststart"), lifetime=Lifetime.ONCE),
    ]


def house(port: int, host: str, bind: str = "127.0.0.1") -> list[Part]:
    """The long-running processes; the web server listens on ``port`` of the address ``bind``.

    ``docker/compose.yaml`` runs the same; ``tests/setup/test_docker.py`` compares them.

    Workers do not gossip: it has no use here, delays their start by a second, and Celery fails to restart it after a
    Redis outage.
    """
    listens = ("--host", bind, "--port", str(port), "--log-level", "warning", "--timeout-graceful-shutdown", "2")
    web = (*listens, "--http", "brokerweb.header_timeout:HeadDeadline")
    return [
        _python("web", "-m", "uvicorn", "brokerweb.asgi:application", *web),
        _worker("worker", "-n", "waxwing@%h", "-Q", f"host.{host},default", "--pool", "threads", "-c", "4"),
        _worker("spark", "-n", "spark@%h", "-Q", "spark", "--pool", "solo"),
        _celery("beat", "beat", "--pidfile="),
        _python("livefeed", *_manage("livefeed")),
    ]
