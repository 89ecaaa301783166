"""This host: writes its heartbeat and starts its supervisor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import psutil
from django.conf import settings
from django.utils import timezone

from brokerweb.networks.models import Host
from overlay.runtime.lifeline import LIFELINE_FD, inherited_lifeline


def beat(supervisor: dict[str, Any], problem: str = "") -> None:
    """Write the heartbeat of this host's worker, with the state of its supervisor."""
    Host.objects.update_or_create(
        name=settings.HOST_NAME,
        defaults={
            "heartbeat": timezone.now(),
            "supervisor": {
                name: supervisor[name] for name in ("pid", "version", "started_unix_ms") if name in supervisor
            },
            "problem": problem,
            "cores": os.cpu_count() or 1,
            "memory_bytes": psutil.virtual_memory().total,
            "version": settings.VERSION,
        },
    )


def _log() -> IO[bytes]:
    """The supervisor's log file; none while the disk is full."""
    path = Path(settings.VAR) / "log" / "supervisor.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("ab")
    except OSError:
        return Path(os.devnull).open("ab")


def start_supervisor() -> None:
    """Start the host's supervisor as a detached process, so that brokers outlive this worker. Raises ``OSError``.

    It inherits the lifeline of ``make up``: when the installation stops, the supervisor and its brokers exit too. If
    two are started at once, a lock decides and the second exits.
    """
    lifeline = inherited_lifeline()
    command = [sys.executable, "-m", "overlay", "supervise", "--socket", str(settings.SUPERVISOR_SOCKET)]
    command += ["--state", str(settings.VAR / "supervisor")]
    with _log() as output:
        subprocess.Popen(
            command,
            cwd=settings.BASE_DIR,
            env={name: value for name, value in os.environ.items() if lifeline is not None or name != LIFELINE_FD},
            pass_fds=[] if lifeline is None else [lifeline],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
