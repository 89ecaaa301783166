"""Use cases of disk usage and retention, called by pages, REST, the admin and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from brokerweb.changelog.recording import CHANGE, recorded, subject
from brokerweb.experiments.models import Run
from brokerweb.kit import etags
from brokerweb.kit.disk import Disk, disk
from brokerweb.kit.errors import NotPossible
from brokerweb.retention import removal
from brokerweb.retention.removal import Plan
from brokerweb.storage.free_space import least_free, run_bytes
from brokerweb.storage.models import Footprint, Gauge, Policy
from overlay.core.errors import InvalidSetting, shown

SUGGESTED_DAYS = 90
SUGGESTED_SHARE = 0.5
"""Suggested share of the disk for files of runs."""
GB = 1_000_000_000
MOST_DAYS, MOST_GB = 36_500, 1_000_000.0
OF_CHANGES = {"change_days": (1, MOST_DAYS), "most_changes": (1_000, 10_000_000)}
"""Limits of the change log, and from where to where they may be set."""
BOOLEANS = ("include_simulated", "include_reports")


@dataclass(frozen=True)
class Usage:
    """Disk usage by part, in bytes."""

    disk: Disk
    least_free: int
    run_bytes: int | None
    parts: dict[str, int]
    """Parts of ``var/`` by name: runs, lake, simulated, reports, database, logs."""
    gauge: Gauge
    kept_runs: int
    """Runs kept by users, exempt from retention."""
    removed_runs: int


def policy() -> Policy:
    """The retention policy; by default nothing is deleted."""
    return Policy.objects.select_related("changed_by").filter(pk=Policy.ONLY).first() or Policy(pk=Policy.ONLY)


def usage() -> Usage:
    """The current disk usage."""
    gauge = Gauge.objects.filter(pk=Gauge.ONLY).first() or Gauge(pk=Gauge.ONLY)
    sums = Footprint.objects.aggregate(runs=Sum("journal_bytes"), lake=Sum("lake_bytes"))
    parts = {"runs": sums["runs"] or 0, "lake": sums["lake"] or 0}
    parts |= {name: getattr(gauge, name) for name in ("simulated", "reports", "database", "logs")}
    kept = Run.objects.filter(kept=True).count()
    removed = Run.objects.filter(files_removed__isnull=False).count()
    return Usage(disk(), least_free(), run_bytes(), parts, gauge, kept, removed)


def read(body: Mapping[str, Any], before: Policy) -> Policy:
    """``before`` with the changes in ``body``: max_days, max_gb, least_free_gb, include_simulated, include_reports,
    change_days, most_changes.

    Numbers may be strings, as in forms; ``None`` or an empty string means no limit. Raises ``InvalidSetting``.
    """
    after = Policy(
        pk=Policy.ONLY,
        max_days=before.max_days,
        max_bytes=before.max_bytes,
        include_simulated=before.include_simulated,
        include_reports=before.include_reports,
        change_days=before.change_days,
        most_changes=before.most_changes,
        least_free_bytes=before.least_free_bytes,
    )
    if "max_days" in body:
        days = _number("max_days", body["max_days"], 1, MOST_DAYS)
        if days is not None and days != int(days):
            raise InvalidSetting("max_days", f"must be a whole number of days, not {days}")
        after.max_days = None if days is None else int(days)
    if "max_gb" in body:
        after.max_bytes = _bytes("max_gb", body["max_gb"], 0.001)
    if "least_free_gb" in body:
        least = _bytes("least_free_gb", body["least_free_gb"], 0.05)
        if least is None:
            raise InvalidSetting("least_free_gb", "is required: runs on a full disk lose data")
        after.least_free_bytes = least
    for name, (low, high) in OF_CHANGES.items():
        if name in body:
            number = _number(name, body[name], low, high)
            if number is None or number != int(number):
                raise InvalidSetting(name, f"must be a whole number from {low:,} to {high:,}")
            setattr(after, name, int(number))
    for name in BOOLEANS:
        if name in body:
            if not isinstance(body[name], bool):
                raise InvalidSetting(name, "must be true or false")
            setattr(after, name, body[name])
    return after


def _bytes(field: str, value: Any, least_gb: float) -> int | None:
    gigabytes = _number(field, value, least_gb, MOST_GB)
    return None if gigabytes is None else round(gigabytes * GB)


def _number(field: str, value: Any, low: float, high: float) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value) if not isinstance(value, bool) and len(str(value)) < 20 else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if not low <= number <= high:
        raise InvalidSetting(field, f"must be a number from {low:g} to {high:,.0f}, not {shown(value, 40)}")
    return number


def stored(limits: Policy) -> dict[str, Any]:
    """The values shown in the policy's form."""
    return {
        name: getattr(limits, name) for name in ("max_days", "max_bytes", "least_free_bytes", *OF_CHANGES, *BOOLEANS)
    }


subject(Policy, "storage", state=stored)


@transaction.atomic  # IMMEDIATE: the policy cannot change between check and update
def change(body: Mapping[str, Any], by: User | None = None, seen: str = "") -> Policy:
    """Change the policy as in ``read``. Expired files are deleted within minutes.

    Raises ``InvalidSetting``, and ``Outdated`` if the policy differs from ``seen``.
    """
    etags.check(seen, stored(before := policy()))
    after = read(body, before)
    after.changed, after.changed_by = timezone.now(), by
    with recorded(CHANGE, before, by):
        after.save()
    return after


def preview(body: Mapping[str, Any]) -> Plan:
    """The effect of a policy change. Raises ``InvalidSetting``."""
    return removal.plan(read(body, policy()), timezone.now())


def apply_now(by: User | None = None) -> Plan:
    """Delete expired files, at most one turn's items; the rest follows automatically. Raises ``NotPossible`` without
    a limit.
    """
    limits = policy()
    if not limits.is_on:
        raise NotPossible("Nothing was deleted: no maximum age or size is set.")
    removal.weigh_runs()
    return removal.apply(limits, timezone.now(), by)


def removed_sentence(run: Run) -> str:
    """The reason why a run has no files; empty if it has."""
    if run.files_removed is None:
        return ""
    return (
        f"Retention deleted its samples, journals, traces and messages on {run.files_removed:%Y-%m-%d}; "
        "summary, events and configuration are kept."
    )
