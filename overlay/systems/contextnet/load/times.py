"""The times of a run.

Measuring begins when all nodes are expected to be connected: drivers know no state of clients. A node that is not yet
connected then sends as soon as it is, which shows in its response time.
"""

from __future__ import annotations

from overlay.core.links import LinkShape
from overlay.load.windows import Schedule
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.workload import Workload

SETTLING_S = 2.0
"""Handshakes of the last nodes, at least."""


def schedule(settings: Settings, workload: Workload) -> Schedule:
    starts_s = workload.connect_interval_ms * (workload.nodes - 1) / 1_000
    places = workload.gateways if workload.start == "spread" else 1
    accepted_s = workload.nodes / (settings.accept_per_s * places)
    settling_s = SETTLING_S + settings.member_timeout_s + 8 * workload.link_delay_ms / 1_000
    return Schedule(max(starts_s, 2 * accepted_s) + settling_s, workload.measured_s, workload.drain_s)


def link(workload: Workload) -> LinkShape | None:
    """Of each direction between a node and a gateway; ``None``: clear."""
    found = workload.link
    return None if found.is_clear else found
