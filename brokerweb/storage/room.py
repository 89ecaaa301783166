"""Whether there is room to launch anything: what is kept free, and what a run takes."""

from __future__ import annotations

from django.db.models import Avg

from brokerweb.kit.disk import disk
from brokerweb.storage.models import LEAST_FREE_BYTES, Footprint, Policy
from telemetry.formatting import size

WEIGHED = 20
"""Runs that the size of the next one is estimated from."""


def least_free() -> int:
    """Bytes that must be free for anything to be launched."""
    kept = Policy.objects.filter(pk=Policy.ONLY).values_list("least_free_bytes", flat=True).first()
    return LEAST_FREE_BYTES if kept is None else kept


def run_bytes() -> int | None:
    """What a run takes: the mean of the last that were weighed, if any was."""
    newest = Footprint.objects.filter(run__files_removed=None).order_by("-run__ended_at")[:WEIGHED]
    mean = newest.aggregate(mean=Avg("total_bytes"))["mean"]
    return None if mean is None else round(mean)


def refusal() -> str:
    """Why nothing can be launched for want of space, as a phrase; empty while there is room."""
    free, least = disk().free, least_free()
    if free >= least:
        return ""
    takes = run_bytes()
    each = f", and a run takes about {size(takes)}" if takes else ""
    return f"the disk has {size(free)} free; {size(least)} are kept free{each}: remove something under Storage"
