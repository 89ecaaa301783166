"""A simulated run that repeats another, held against the digest that one had: does the same come out?

Counterpart: ``telemetry.sweep.simulation`` simulates it again. What is compared is what the earlier run's row says, so
that nothing of it need be kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from telemetry.lake.runs import Lake, read_manifest
from telemetry.lake.storage import plain

IDENTICAL, DIFFERENT, NOT_COMPARABLE = "identical", "different", "not comparable"
"""What a run that repeats another came to beside it."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What a run follows from, beside its configuration and seed."""

    simulator: str
    """Names the code."""
    service_times: Mapping[str, Any] | None


def compare(
    original: Mapping[str, Any], key: str, digest: str, followed: Followed, lake: Lake, *, is_whole: bool
) -> dict[str, str]:
    """``{run, digest, outcome, why}`` of the run that is repeated: ``original`` is its ``run``, ``key`` and ``digest``.

    Equal digests are ``identical`` whatever made them. Others are ``different`` where both follow from the same, and
    ``not comparable``, saying why, where they do not.
    """
    before = str(original.get("digest") or "")
    outcome, why = NOT_COMPARABLE, ""
    if not before:
        why = "that run did not come to its end, so that there is no digest of it"
    elif not is_whole:
        why = "this run was stopped before its end"
    elif digest == before:
        outcome = IDENTICAL
    elif key == original.get("key"):
        outcome = DIFFERENT
    else:
        why = _changed_since(str(original["run"]), followed, lake)
    return {"run": str(original.get("run", "")), "digest": before, "outcome": outcome, "why": why}


def _changed_since(run: str, followed: Followed, lake: Lake) -> str:
    """What it followed from that is another now, as far as its manifest is still there to tell."""
    manifest = read_manifest(lake.manifest_path(run))
    changed = []
    if manifest.get("simulator") != followed.simulator:
        changed.append("the code of the simulator")
    if manifest.get("service_times") != plain(followed.service_times):
        changed.append("the calibrated service times")
    words = (" and " if manifest else " or ").join(changed) or "what it followed from"
    return f"since that run, something has changed: {words}"
