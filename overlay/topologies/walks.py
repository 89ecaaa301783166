"""The result of estimating walks over a topology, for any system with walks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WalkEstimate:
    """The result of ``walks`` simulated walks; numbers are ``None`` if no walk found anything."""

    policy: str
    holders: int
    walks: int
    found: float
    """Share of the walks that found the content."""
    hops: float | None
    """Mean hops of the successful walks."""
    margin: float | None
    """Half width of the mean's 95 % interval."""
