"""The links between clients and servers, in virtual time."""

from __future__ import annotations

from overlay.core.links import LinkShape
from overlay.systems.federation.workload import Workload


def shape(workload: Workload) -> LinkShape | None:
    """Of each direction; ``None``: clear."""
    delay, jitter, loss = workload.client_delay_ms, workload.client_jitter_ms, workload.client_loss
    found = LinkShape(delay_ms=delay, jitter_ms=jitter, loss=loss)
    return None if found.is_clear else found
