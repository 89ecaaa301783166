"""When an alarm is pending, firing and resolved. Pure; times are seconds of any clock that does not run backwards.

An alarm fires when its measure was beyond the threshold for a given time without interruption, and is resolved when it
was back at the clearing value for as long. Between the two values it stays what it is, so a measure that moves around
its threshold does not make it flap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

ABOVE, BELOW = COMPARISONS = ("above", "below")
PATIENCE_S = 60
"""Without a measurement for so long, a time that was beyond the threshold counts as interrupted."""
BAND = 0.1
"""Default distance of the clearing value from the threshold, as a share of the threshold."""


class State(StrEnum):
    QUIET = "quiet"
    """It has never fired."""
    PENDING = "pending"
    """Beyond the threshold, but not yet for long enough."""
    FIRING = "firing"
    RESOLVED = "resolved"
    """It has fired, and does no more."""


@dataclass(frozen=True, slots=True)
class Rule:
    comparison: str
    value: float
    """Beyond it, the measure is bad."""
    clears: float
    """At it, or on its good side, the measure is well again."""
    for_s: float

    def is_beyond(self, value: float) -> bool:
        return value > self.value if self.comparison == ABOVE else value < self.value

    def is_clear(self, value: float) -> bool:
        return value <= self.clears if self.comparison == ABOVE else value >= self.clears


@dataclass(frozen=True, slots=True)
class Status:
    """Where an alarm is."""

    state: State = State.QUIET
    since_s: float = 0.0
    """Begin of the state; of ``PENDING``: since when the measure is beyond the threshold."""
    seen_s: float = 0.0
    """Time of the latest measurement."""
    clear_since_s: float | None = None
    """While firing: since when the measure is clear."""
    before: State = State.QUIET
    """While pending: the state to return to."""


def step(status: Status, rule: Rule, at_s: float, value: float | None) -> Status:
    """After a measurement of ``at_s``; ``None``: nothing was measured then."""
    status = _interrupted(status, at_s)
    if value is None:
        return status
    status = replace(status, seen_s=at_s)
    if status.state is State.FIRING:
        return _firing(status, rule, at_s, value)
    if not rule.is_beyond(value):
        return _back(status, at_s) if status.state is State.PENDING else status
    if status.state is not State.PENDING:
        status = replace(status, state=State.PENDING, since_s=at_s, before=status.state)
    if at_s - status.since_s < rule.for_s:
        return status
    return replace(status, state=State.FIRING, since_s=at_s, clear_since_s=None)


def _firing(status: Status, rule: Rule, at_s: float, value: float) -> Status:
    if not rule.is_clear(value):
        return replace(status, clear_since_s=None)
    since_s = at_s if status.clear_since_s is None else status.clear_since_s
    if at_s - since_s < rule.for_s:
        return replace(status, clear_since_s=since_s)
    return replace(status, state=State.RESOLVED, since_s=at_s, clear_since_s=None)


def _interrupted(status: Status, at_s: float) -> Status:
    """Silence says nothing: an alarm keeps firing, but times without interruption end."""
    if at_s - status.seen_s <= PATIENCE_S:
        return status
    return _back(status, at_s) if status.state is State.PENDING else replace(status, clear_since_s=None)


def _back(status: Status, at_s: float) -> Status:
    return replace(status, state=status.before, since_s=at_s)


def clearing(comparison: str, value: float, *, is_share: bool) -> float:
    """The default clearing value: a tenth of the threshold on its good side; of a share, of what is missing to 1."""
    if comparison == ABOVE:
        return value * (1 - BAND) if value >= 0 else value * (1 + BAND)
    return value + (1 - value) * BAND if is_share else value * (1 + BAND)
