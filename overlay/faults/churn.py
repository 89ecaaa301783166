"""Churn: the schedule of brokers that leave and return during measuring. Pure.

Counterparts: ``overlay.deployment.phases`` excludes brokers that are away from the desired processes,
``overlay.runtime.deployment_runner`` stops and starts real ones, ``overlay.sim.world`` those in virtual time. All
brokers are up when measuring begins. With drawn churn the first ``churn_brokers_kept`` stay up::

    up ── session ──> leave (graceful, SIGTERM) or crash (SIGKILL) ── downtime ──> up, empty, same port ── session ──>

When measuring begins, the first session is in progress, and only its remainder is drawn. Brokers therefore depart at
a constant mean rate, whatever the shape. Measured session lengths of peers are not exponential: many
are short and a few very long, as in a Weibull distribution with a shape below 1 (Stutzbach, Rejaie: Understanding churn
in peer-to-peer networks, IMC 2006).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gamma, isfinite, log
from typing import Protocol

from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.errors import InvalidSetting

UP, LEAVE, CRASH = "up", "leave", "crash"
DEPARTURES = (LEAVE, CRASH)
HAPPENED = {UP: "churn_returned", LEAVE: "churn_left", CRASH: "churn_crashed"}
"""The name of each change's event in a journal."""
CRASHED = "crashed on purpose"
"""The reason recorded for a process killed by churn or a fault."""

MAX_CHANGES = 10_000
"""Maximum departures and returns of a run. With more than a few starts per second a host measures itself."""
EARLIER = 50
"""A broker's sessions are drawn from this many mean sessions before measuring, to find the current one."""


@dataclass(frozen=True, slots=True)
class Change:
    """One departure or return of a broker."""

    at_s: float
    """Seconds since the start of the workload."""
    broker: int
    what: str
    """``up``, ``leave`` or ``crash``."""


class Churning(Protocol):
    """A workload with churn, of any system."""

    @property
    def churn(self) -> str: ...
    @property
    def churn_schedule(self) -> str: ...
    @property
    def churn_leave_share(self) -> float: ...
    @property
    def churn_brokers_kept(self) -> int: ...
    @property
    def session_mean_s(self) -> float: ...
    @property
    def session_shape(self) -> float: ...
    @property
    def downtime_mean_s(self) -> float: ...
    @property
    def duration_s(self) -> float: ...
    def ramp_s(self) -> float: ...


def schedule(workload: Churning, brokers: int, seed: int) -> tuple[Change, ...]:
    """All departures and returns in chronological order; equal for equal arguments. Raises ``InvalidSetting``."""
    if workload.churn == "none":
        return ()
    changes = _written(workload, brokers) if workload.churn == "file" else _drawn(workload, brokers, seed)
    begin = workload.ramp_s()
    return tuple(Change(begin + one.at_s, one.broker, one.what) for one in sorted(changes, key=lambda one: one.at_s))


class Churn:
    """The progress of a schedule."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = changes
        self._next = 0
        self.away: set[int] = set()
        """The brokers that are away."""

    def due(self, at_s: float) -> list[Change]:
        """The changes due at ``at_s`` after the start of the workload. Each is returned once."""
        told = self._next
        while self._next < len(self._changes) and self._changes[self._next].at_s <= at_s:
            change = self._changes[self._next]
            (self.away.discard if change.what == UP else self.away.add)(change.broker)
            self._next += 1
        return list(self._changes[told : self._next])

    def next_s(self) -> float | None:
        """The time of the next change, or ``None``."""
        return self._changes[self._next].at_s if self._next < len(self._changes) else None


# ---- drawn schedules


def _drawn(workload: Churning, brokers: int, seed: int) -> list[Change]:
    kept = workload.churn_brokers_kept
    if kept >= brokers:
        raise InvalidSetting("churn_brokers_kept", f"{kept} of {brokers} brokers are kept, so none can leave")
    expected = 2 * (brokers - kept) * workload.duration_s / (workload.session_mean_s + workload.downtime_mean_s)
    if expected > MAX_CHANGES:
        raise InvalidSetting(
            "session_mean_s", f"about {expected:.0f} departures and returns; at most {MAX_CHANGES} are allowed"
        )
    session = SESSIONS[workload.churn](workload)
    return [
        change
        for broker in range(kept, brokers)
        for change in _life(broker, workload, session, Stream(derive_seed(seed, "churn", broker)))
    ]


Draw = Callable[[Chance], float]
"""Draws a duration in seconds."""


def _exponential(mean_s: float) -> Draw:
    return lambda chance: -mean_s * log(1 - chance.random())


def _weibull(mean_s: float, shape: float) -> Draw:
    scale_s = mean_s / gamma(1 + 1 / shape)
    return lambda chance: scale_s * float((-log(1 - chance.random())) ** (1 / shape))


SESSIONS: dict[str, Callable[[Churning], Draw]] = {
    "exponential": lambda workload: _exponential(workload.session_mean_s),
    "weibull": lambda workload: _weibull(workload.session_mean_s, workload.session_shape),
}
"""The distribution of sessions, by kind of churn."""


def _life(broker: int, workload: Churning, session: Draw, chance: Chance) -> Iterator[Change]:
    downtime = _exponential(workload.downtime_mean_s)
    at = -EARLIER * workload.session_mean_s
    while at <= 0:
        at = _later(at, session(chance))
    while at < workload.duration_s:
        yield Change(at, broker, LEAVE if chance.random() < workload.churn_leave_share else CRASH)
        at = _later(at, downtime(chance))
        if at < workload.duration_s:
            yield Change(at, broker, UP)
        at = _later(at, session(chance))


def _later(at_s: float, by_s: float) -> float:
    """Rounded to milliseconds, since the last digit of a logarithm differs between machines, and runs must not."""
    return round(at_s + by_s, 3)


# ---- schedules from churn_schedule


def _written(workload: Churning, brokers: int) -> list[Change]:
    """The changes in ``churn_schedule``, in seconds from the start of measuring."""
    texts = [text.strip() for text in re.split(r"[;\n]", workload.churn_schedule) if text.strip()]
    if not texts:
        raise _wrong("is empty; churn by file needs entries such as “5 3 crash; 12.5 3 up”")
    if len(texts) > MAX_CHANGES:
        raise _wrong(f"has {len(texts)} entries; at most {MAX_CHANGES} are allowed")
    changes = [_read(text, workload.duration_s, brokers) for text in texts]
    away: set[int] = set()
    for change in sorted(changes, key=lambda one: one.at_s):
        if (change.what == UP) != (change.broker in away):
            there = "is away already" if change.broker in away else "is not away"
            raise _wrong(f"“{change.at_s:g} {change.broker} {change.what}”: broker {change.broker} {there} by then")
        (away.discard if change.what == UP else away.add)(change.broker)
    return changes


def _read(text: str, duration_s: float, brokers: int) -> Change:
    words = text.split()
    if len(words) != 3:
        raise _wrong(f"“{text:.40}” must be seconds, broker, and one of up, leave, crash")
    at, broker, what = words
    if what not in (UP, *DEPARTURES):
        raise _wrong(f"“{text:.40}”: {what:.20} must be one of up, leave, crash")
    if not (broker.isascii() and broker.isdigit() and len(broker) < 10 and int(broker) < brokers):
        raise _wrong(f"“{text:.40}”: the broker must be a whole number from 0 to {brokers - 1}, not {broker:.20}")
    try:
        at_s = float(at)
    except ValueError:
        raise _wrong(f"“{text:.40}”: {at:.20} is not a number of seconds") from None
    if not (isfinite(at_s) and 0 <= at_s < duration_s):
        raise _wrong(f"“{text:.40}”: must be during measuring, from 0 s to less than {duration_s:g} s")
    return Change(at_s, int(broker), what)


def _wrong(sentence: str) -> InvalidSetting:
    return InvalidSetting("churn_schedule", sentence)
