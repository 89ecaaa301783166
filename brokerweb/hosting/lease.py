"""Which process hosts the clients of a system: the one that holds its lease, a row of the database. Blocking."""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta
from uuid import uuid4

from django.db.models import Q
from psutil import pid_exists

from brokerweb.hosting.models import HostLease

LASTS = timedelta(seconds=15)
RENEWED_S = 5.0


def new_holder() -> str:
    """A name for this process; one of this machine is known to be gone before its lease has expired."""
    return f"{socket.gethostname()}|{os.getpid()}|{uuid4().hex}"


def take(system: str, me: str, now: datetime) -> bool:
    """Take the lease, or renew it. ``False``: another process has it."""
    row, _ = HostLease.objects.get_or_create(pk=system, defaults={"holder": me, "expires": now + LASTS})
    free = Q(holder=me) | Q(expires__lte=now) | Q(holder="")
    if _is_gone(row.holder):
        free |= Q(holder=row.holder)
    return bool(HostLease.objects.filter(free, pk=system).update(holder=me, expires=now + LASTS))


def release(system: str, me: str) -> None:
    HostLease.objects.filter(pk=system, holder=me).update(holder="")


def _is_gone(holder: str) -> bool:
    """Whether it was a process of this machine that has ended."""
    host, _, rest = holder.partition("|")
    pid = rest.partition("|")[0]
    return host == socket.gethostname() and pid.isdigit() and int(pid) != os.getpid() and not pid_exists(int(pid))
