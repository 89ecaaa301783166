"""Available resources of this machine. Counterpart: ``capacity`` computes what runs need."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from brokerweb.experiments.capacity import Machine
from brokerweb.kit.disk import disk
from brokerweb.networks import broker_index
from brokerweb.networks.models import DOWN, Network
from brokerweb.storage import free_space
from overlay.runtime.deployments import BROKER_PORTS

EPHEMERAL = (32_768, 60_999)
"""Default if the system does not report it."""


def here() -> Machine:
    """The machine of this process, on which runs are executed."""
    taken = sum(len(broker_index.servers_of(network)) for network in Network.objects.exclude(state__in=DOWN))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    low, high = _ephemeral_ports()
    return Machine(
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        free_bytes=disk().free - free_space.least_free(),
        open_files=hard if hard != resource.RLIM_INFINITY else 1 << 20,
        client_ports=high - low + 1,
        broker_ports=len(BROKER_PORTS) - taken,
    )


def _ephemeral_ports() -> tuple[int, int]:
    with suppress(OSError, ValueError):
        low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
        return int(low), int(high)
    return EPHEMERAL
