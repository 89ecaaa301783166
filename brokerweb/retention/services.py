"""What can be done with what lies on the disk. Pages, REST, the admin and tasks are doors to this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from brokerweb.experiments.models import Run
from brokerweb.kit import stale
from brokerweb.kit.disk import Disk, disk
from brokerweb.kit.errors import NotPossible
from brokerweb.retention import removal
from brokerweb.retention.removal import Plan
from brokerweb.storage.models import Footprint, Gauge, Policy
from brokerweb.storage.room import least_free, run_bytes
from overlay.core.errors import InvalidSetting

SUGGESTED_DAYS = 90
SUGGESTED_SHARE = 0.5
"""Of the disk: what the files of runs may take, where nobody said."""
GB = 1_000_000_000
MOST_DAYS, MOST_GB = 36_500, 1_000_000.0
BOOLEANS = ("include_simulated", "include_reports")


@dataclass(frozen=True)
class Report:
    """How full it is and with what, in bytes."""

    disk: Disk
    least_free: int
    run_bytes: int | None
    parts: dict[str, int]
    """Of ``var/``, by name: runs, lake, simulated, reports, database, logs."""
    gauge: Gauge
    kept_runs: int
    """Runs that retention passes by because somebody keeps them."""
    removed_runs: int


def policy() -> Policy:
    """What is kept how long, as it was set; with nothing set, nothing is removed."""
    return Policy.objects.select_related("changed_by").filter(pk=Policy.ONLY).first() or Policy(pk=Policy.ONLY)


def told() -> Report:
    """How full it is now."""
    gauge = Gauge.objects.filter(pk=Gauge.ONLY).first() or Gauge(pk=Gauge.ONLY)
    sums = Footprint.objects.aggregate(runs=Sum("journal_bytes"), lake=Sum("lake_bytes"))
    parts = {"runs": sums["runs"] or 0, "lake": sums["lake"] or 0}
    parts |= {name: getattr(gauge, name) for name in ("simulated", "reports", "database", "logs")}
    kept = Run.objects.filter(kept=True).count()
    removed = Run.objects.filter(files_removed__isnull=False).count()
    return Report(disk(), least_free(), run_bytes(), parts, gauge, kept, removed)


def read(body: Mapping[str, Any], before: Policy) -> Policy:
    """``before`` with what ``body`` changes: max_days, max_gb, least_free_gb, include_simulated, include_reports.

    Numbers may be texts, as forms send them; ``None`` or an empty text is no limit. Raises ``InvalidSetting``.
    """
    after = Policy(
        pk=Policy.ONLY,
        max_days=before.max_days,
        max_bytes=before.max_bytes,
        include_simulated=before.include_simulated,
        include_reports=before.include_reports,
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
            raise InvalidSetting("least_free_gb", "is required: with a full disk runs lose what they measure")
        after.least_free_bytes = least
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
        raise InvalidSetting(field, f"must be a number from {low:g} to {high:,.0f}, not {str(value)[:40]!r}")
    return number


def stored(limits: Policy) -> dict[str, Any]:
    """What the form of the policy shows."""
    return {name: getattr(limits, name) for name in ("max_days", "max_bytes", "least_free_bytes", *BOOLEANS)}


@transaction.atomic  # IMMEDIATE: nobody sets another policy between the look at it and the change
def change(body: Mapping[str, Any], by: User | None = None, seen: str = "") -> Policy:
    """Sets what ``body`` names (see ``read``). What is due goes within minutes.

    Raises ``InvalidSetting``, and ``Outdated`` where the policy is another than the one ``seen``.
    """
    stale.check(seen, stored(before := policy()))
    after = read(body, before)
    after.changed, after.changed_by = timezone.now(), by
    after.save()
    return after


def preview(body: Mapping[str, Any]) -> Plan:
    """What the policy would remove now if it were changed like that. Raises ``InvalidSetting``."""
    return removal.plan(read(body, policy()), timezone.now())


def apply_now(by: User | None = None) -> Plan:
    """Removes what is due, at most a turn's worth; the rest goes by itself. Raises ``NotPossible`` without a limit."""
    limits = policy()
    if not limits.is_on:
        raise NotPossible("Nothing is removed while neither an age nor a size is set.")
    removal.weigh_runs()
    return removal.apply(limits, timezone.now(), by)


def removed_sentence(run: Run) -> str:
    """Why a run has no files any more; empty where it has."""
    if run.files_removed is None:
        return ""
    return (
        f"Its samples, journals, traces and messages were removed on {run.files_removed:%Y-%m-%d} by retention; "
        "its summary, events and configuration stay."
    )
