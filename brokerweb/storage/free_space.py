"""Checks that there is enough disk space to launch a run."""

from __future__ import annotations

from django.db.models import Avg

from brokerweb.kit.disk import disk
from brokerweb.storage.models import LEAST_FREE_BYTES, Footprint, Policy
from telemetry.formatting import size

WEIGHED = 20
"""Number of recent runs used to estimate the size of the next one."""


def least_free() -> int:
    """Minimum free bytes to launch."""
    kept = Policy.objects.filter(pk=Policy.ONLY).values_list("least_free_bytes", flat=True).first()
    return LEAST_FREE_BYTES if kept is None else kept


def run_bytes() -> int | None:
    """Mean size of recently measured runs, if any."""
    newest = Footprint.objects.filter(run__files_removed=None).order_by("-run__ended_at")[:WEIGHED]
    mean = newest.aggregate(mean=Avg("total_bytes"))["mean"]
    return None if mean is None else round(mean)


def refusal() -> str:
    """The reason why low disk space prevents launches, as a phrase; empty if it does not."""
    free, least = disk().free, least_free()
    if free >= least:
        return ""
    takes = run_bytes()
    each = f", and a run takes about {size(takes)}" if takes else ""
    return f"the disk has {size(free)} free, but launches need {size(least)}{each}; free up space under Storage"
