"""Values of a study's claims, for its sentences. Pure."""

from __future__ import annotations

from telemetry.studies.judging import Judged, Result


def judged(result: Result, id: str) -> Judged:
    """Raises ``KeyError``."""
    for one in result.judged:
        if one.claim.id == id:
            return one
    raise KeyError(id)


def of_claim(result: Result, id: str) -> dict[str, float]:
    """What its quantities came to, by name, without those that are not known."""
    found = {one.name: one.found["value"] for one in judged(result, id).values}
    return {name: value for name, value in found.items() if value is not None}
