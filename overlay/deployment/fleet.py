"""Supervision of processes: ``plan(desired, observed, now) -> actions``, to start, stop, kill or give up on them. Pure.

Counterparts: ``overlay.runtime.supervisor`` (brokers and client fleets) and ``brokerweb.up.manager`` (the processes of
``make up``) execute the actions and report the results to a ``Process``. The limits are those of systemd: five restarts
in ten seconds, 100 ms before each.

::

              started        ready                    stop_sent              kill_sent
    waiting ──────────> starting ──────> up ── ... ──────────────> stopping ──────────> killed
       ^                   │             │                            │                   │
       └───────────────────┴──── ended ──┴────────────────────────────┴───────────────────┘
       │ gave_up ^
       v         │ restart_asked
    given-up ────┘

A failed start is not a death: a process that ended before it was ever ready would fail again, so it is given up on
at once, with its own reason. A process that was ready before is restarted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from overlay.core.node import MILLISECOND, SECOND

RESTARTS = 5
"""Maximum restarts within ``RESTART_WINDOW``; after the next death the process is given up on."""
RESTART_WINDOW = 10 * SECOND
BACK_OFF = 100 * MILLISECOND
START_TIMEOUT = 20 * SECOND
"""A broker that is not ready after this has failed. A loaded machine imports slowly."""
STOP_GRACE = 3 * SECOND
"""From SIGTERM to SIGKILL."""
DRAIN_GRACE = 20 * SECOND
"""From the order to hand over its entries and leave, to SIGKILL."""
RESTARTED = "restarted"
"""The prefix of the reason for a restart by an operator."""

WAITING, STARTING, UP, STOPPING, KILLED, GIVEN_UP = "waiting", "starting", "up", "stopping", "killed", "given-up"

TRANSITIONS: dict[tuple[str, str], str] = {
    (WAITING, "started"): STARTING,
    (STARTING, "ready"): UP,
    (STARTING, "stop_sent"): STOPPING,
    (UP, "stop_sent"): STOPPING,
    (STARTING, "kill_sent"): KILLED,
    (UP, "kill_sent"): KILLED,
    (STOPPING, "kill_sent"): KILLED,
    (STOPPING, "ready"): STOPPING,
    (KILLED, "ready"): KILLED,
    (STARTING, "ended"): WAITING,
    (UP, "ended"): WAITING,
    (STOPPING, "ended"): WAITING,
    (KILLED, "ended"): WAITING,
    (WAITING, "gave_up"): GIVEN_UP,
    (GIVEN_UP, "restart_asked"): WAITING,
    (UP, "restart_asked"): STOPPING,
}
"""(state, event) -> state. A missing key is a bug of ours and raises ``KeyError``."""


class Lifetime(Enum):
    """How long a process should run."""

    ALWAYS = "always"
    """Restarted whenever it ends."""
    ONCE = "once"
    """Runs to its end; any other end is final."""


@dataclass(frozen=True, slots=True)
class Process:
    """The observed state of one process. Each method is one event and returns the new state."""

    state: str = WAITING
    since: int = 0
    """The start of this state, monotonic nanoseconds."""
    launches: int = 0
    """Number of starts; identifies the incarnation."""
    was_ready: bool = False
    """Whether it was ever up."""
    restarts: tuple[int, ...] = ()
    """Times of the last restarts, oldest first, at most ``RESTARTS``."""
    failed_starts: int = 0
    """Consecutive ends before it was ready."""
    ended_well: bool = False
    """Whether its last end was exit 0 and not requested."""
    was_away: bool = False
    """Whether it was stopped by churn; the next start is then not a restart."""
    reason: str = ""
    """The reason of its last end; empty if it has not ended."""
    is_new: bool = False
    """Whether its next start is not a restart, since its settings have changed or it never came up."""
    grace: int = STOP_GRACE
    """How long it may take to end, once it was told to."""

    def _moved(self, happened: str, now: int) -> Process:
        state = TRANSITIONS[self.state, happened]
        return self if state == self.state else replace(self, state=state, since=now)

    def started(self, now: int) -> Process:
        counts = self.launches and not self.was_away
        return replace(
            self._moved("started", now),
            launches=self.launches + 1,
            restarts=(*self.restarts, now)[-RESTARTS:] if counts else self.restarts,
            ended_well=False,
            was_away=False,
            is_new=False,
            grace=STOP_GRACE,
        )

    def ready(self, now: int) -> Process:
        return replace(self._moved("ready", now), was_ready=True, failed_starts=0)

    def stop_sent(self, now: int, grace: int = STOP_GRACE) -> Process:
        return replace(self._moved("stop_sent", now), reason="", grace=grace)

    def restart_asked(self, now: int, reason: str, grace: int = STOP_GRACE) -> Process:
        """An operator requested a restart. The process was told to end if it is up. Earlier deaths and failed starts no
        longer count.
        """
        asked = self._moved("restart_asked", now)
        is_new = self.is_new or not self.was_ready
        return replace(asked, reason=reason, restarts=(), failed_starts=0, grace=grace, is_new=is_new)

    def renewed(self) -> Process:
        """Its next start is with other settings: if that fails, it would fail again, as the first one of all."""
        return replace(self, was_ready=False, is_new=True)

    def kill_sent(self, now: int, reason: str = "") -> Process:
        """The reason of a requested stop remains the first part of the reason."""
        asked = self.reason if self.state == STOPPING else ""
        return replace(self._moved("kill_sent", now), reason="; ".join(filter(None, (asked, reason))))

    def ended(self, now: int, reason: str, *, well: bool = False) -> Process:
        """``reason`` is the system's reason. If we ended the process ourselves, our own reason replaces it."""
        told = self.reason if self.state in (STOPPING, KILLED) and self.reason else reason
        return replace(
            self._moved("ended", now),
            reason=told,
            failed_starts=self.failed_starts + (self.state == STARTING),
            ended_well=well and self.state in (STARTING, UP),
        )

    def sent_away(self) -> Process:
        return replace(self, was_away=True)

    def gave_up(self, now: int, reason: str) -> Process:
        return replace(self._moved("gave_up", now), reason=reason)

    @property
    def restarted(self) -> int:
        """Number of restarts."""
        return max(self.launches - 1, 0)

    @property
    def lives(self) -> bool:
        """Whether the process exists in the system."""
        return self.state in (STARTING, UP, STOPPING, KILLED)


@dataclass(frozen=True, slots=True)
class Start:
    name: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Send SIGTERM."""

    name: str


@dataclass(frozen=True, slots=True)
class Kill:
    """Send SIGKILL."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """No action now; plan again at ``until`` at the latest."""

    name: str
    until: int


Action = Start | Stop | Kill | GiveUp | Wait


def plan(desired: Mapping[str, Lifetime], observed: Mapping[str, Process], now: int) -> list[Action]:
    """The actions that are due, at most one per process, desired processes first and in their order."""
    actions = [
        _toward_running(name, lifetime, observed.get(name, Process()), now) for name, lifetime in desired.items()
    ]
    actions += [_toward_gone(name, process, now) for name, process in observed.items() if name not in desired]
    return [action for action in actions if action is not None]


def _toward_running(name: str, lifetime: Lifetime, process: Process, now: int) -> Action | None:
    if process.state == STARTING:
        return _by(process.since + START_TIMEOUT, now, Kill(name, f"not ready within {START_TIMEOUT // SECOND} s"))
    if process.state in (STOPPING, KILLED):
        return _toward_gone(name, process, now)
    if process.state != WAITING:
        return None
    if process.launches == 0 or process.was_away or process.is_new:
        return Start(name)
    if lifetime is Lifetime.ONCE:
        return None if process.ended_well else GiveUp(name, process.reason)
    if not process.was_ready:
        return GiveUp(name, process.reason)
    if process.failed_starts >= RESTARTS:  # however slowly, for example because its port is taken or the disk is full
        return GiveUp(name, f"did not come up {RESTARTS} times in a row, the last time it ended by: {process.reason}")
    if len(process.restarts) == RESTARTS and now < process.restarts[0] + RESTART_WINDOW:
        window = RESTART_WINDOW // SECOND
        return GiveUp(
            name, f"restarted {RESTARTS} times within {window} s, the last time it ended by: {process.reason}"
        )
    return _by(process.since + BACK_OFF, now, Start(name))


def _toward_gone(name: str, process: Process, now: int) -> Action | None:
    if process.state in (STARTING, UP):
        return Stop(name)
    if process.state == STOPPING:
        return _by(
            process.since + process.grace, now, Kill(name, f"did not end within {process.grace // SECOND} s of SIGTERM")
        )
    return None


def _by(deadline: int, now: int, action: Action) -> Action:
    return action if now >= deadline else Wait(action.name, deadline)
