"""Compares the digest of a repeated simulated run with that of the original.

Counterpart: ``telemetry.sweep.simulation`` simulates it again. The original's digest is stored in its row, so its
files are not needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from overlay.runtime.calibrated import as_written_now
from telemetry.lake.runs import Lake, read_manifest
from telemetry.lake.storage import plain

IDENTICAL, DIFFERENT, NOT_COMPARABLE = "identical", "different", "not comparable"
"""The outcomes of the comparison."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Everything that determines a run, besides its configuration and seed."""

    simulator: str
    """Digest of the code."""
    service_times: Mapping[str, Any] | None


def compare(
    original: Mapping[str, Any], key: str, digest: str, followed: Followed, lake: Lake, *, is_whole: bool
) -> dict[str, str]:
    """``{run, digest, outcome, why}`` of the original, which is given by its ``run``, ``key`` and ``digest``.

    Equal digests are ``identical`` in any case. Different ones are ``different`` if the same code and service times
    determine both runs, and ``not comparable``, with the reason, if not.
    """
    before = str(original.get("digest") or "")
    outcome, why = NOT_COMPARABLE, ""
    if not before:
        why = "that run did not complete, so it has no digest"
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
    """What has changed since the original, as far as its manifest still exists."""
    manifest = read_manifest(lake.manifest_path(run))
    changed = []
    if manifest.get("simulator") != followed.simulator:
        changed.append("the code of the simulator")
    if plain(as_written_now(manifest.get("service_times"))) != plain(followed.service_times):
        changed.append("the calibrated service times")
    words = (" and " if manifest else " or ").join(changed) or "the code or the service times"
    return f"changed since that run: {words}"
