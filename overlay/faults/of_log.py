"""The faults of a log, for systems with one (``System.log_of``): these declare them among their own. Pure.

Drivers apply them; servers and clients only see that nothing comes::

    {"what": "log_down", "at_s": 5, "until_s": 9}
    {"what": "log_restart", "at_s": 5, "down_s": 0.5}
    {"what": "log_slow", "delay_ms": 50, "at_s": 5, "until_s": 9}
    {"what": "log_cut", "servers": ["gateway-0"], "at_s": 5, "until_s": 9}     this process cannot reach it
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting
from overlay.faults.kinds import FaultKind

DOWN, RESTARTED, SLOW, CUT = "log_down", "log_restart", "log_slow", "log_cut"


@dataclass(frozen=True, slots=True)
class Restarting:
    down_s: float = setting(0.5, unit="s", low=0.01, high=600, help="How long the log is down.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class Slowness:
    delay_ms: float = setting(50.0, unit="ms", low=0.1, high=60_000, help="Added to the delay of each append.")

    def __post_init__(self) -> None:
        check(self)


def log_faults(servers: tuple[str, ...], clients: tuple[str, ...] = ()) -> dict[str, FaultKind]:
    """By name; ``servers`` and ``clients`` are the roles that have the log."""
    return {
        DOWN: FaultKind("Log down", of_log=True),
        RESTARTED: FaultKind("Log restarted", of_log=True, Fields=Restarting, lasts=False),
        SLOW: FaultKind("Slow log", of_log=True, Fields=Slowness),
        CUT: FaultKind("Cut off from the log", servers=servers, clients=clients, of_log=True),
    }
