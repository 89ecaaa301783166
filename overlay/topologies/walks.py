"""What an estimate of walks over a topology says, whatever the system whose requests walk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WalkEstimate:
    """The result of ``walks`` simulated walks; numbers are ``None`` where no walk found anything."""

    policy: str
    holders: int
    walks: int
    found: float
    """Share of the walks that found the content."""
    hops: float | None
    """Mean number of links that a request crossed until it was found, of those found."""
    margin: float | None
    """The mean is that, give or take this, with 95 % confidence."""
