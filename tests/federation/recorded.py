"""Made-up facts of a run of a federation, for tests of its measures. Times in ms from the start of measuring."""

from __future__ import annotations

from typing import Any

from overlay.journal.facts import Event, Fact, Row, Start, Tick
from overlay.systems.federation.rows import Noted, Notified, Subscribed, row

BEGIN_US = 10_000_000
ZERO_UNIX_US = 1_800_000_000_000_000
END_MS = 200_000


def at(ms: float) -> int:
    """µs since the zero of the deployment; 0 stays 0 for what did not happen."""
    return BEGIN_US + round(ms * 1000)


def start() -> list[Fact]:
    return [
        Start("supervisor", 0, ZERO_UNIX_US, "test"),
        Event("supervisor", BEGIN_US, "phase", {"phase": "measuring"}),
        Event("supervisor", at(END_MS), "phase", {"phase": "finished"}),
    ]


def subscribed(number: int, ms: float, first_ms: float | None = None, **others: Any) -> Row:
    """Of ``c0``; expires 30 s later."""
    first_us = 0 if first_ms is None else at(first_ms)
    is_once = others.pop("once", True)
    ended_us = others.pop("ended_us", first_us if is_once else 0)
    known = {
        "client": "c0",
        "number": number,
        "scopes": ["s0"],
        "once": is_once,
        "intended_us": at(ms),
        "sent_us": at(ms),
        "expires_ms": (at(ms) + 30_000_000 + ZERO_UNIX_US) // 1000,
        "accepted_us": at(ms + 1),
        "first_us": first_us,
        "cached": False,
        "hops": 1,
        "ended_us": ended_us,
        "reason": "satisfied" if ended_us else "",
    }
    return row(at(END_MS), Subscribed(**{**known, **others}), "consumers-0")


def noted(number: int, ms: float, satisfied: list[str] | None = None, scope: str = "s0", provider: str = "p0") -> Row:
    value = Noted(provider, number, scope, "room|r0", at(ms), at(ms + 1), 0, satisfied or [])
    return row(at(END_MS), value, "providers-0")


def notified(number: int, note: int, ms: float, *, cached: bool = False, provider: str = "p0") -> Row:
    return row(at(ms), Notified("c0", number, provider, note, at(ms), cached, 1), "consumers-0")


def fault(ms: float, what: str, until_ms: float | None = None, **others: Any) -> Event:
    until_s = None if until_ms is None else until_ms / 1000
    return Event("supervisor", at(ms), "fault_began", {"what": what, "at_s": ms / 1000, "until_s": until_s, **others})


def learned(process: str, ms: float, name: str, by: str = "regtable") -> Event:
    return Event(process, at(ms), "DisappearanceLearned", {"name": name, "by": by})


def removed(process: str, ms: float, client: str, reason: str = "unregistered", **others: Any) -> Event:
    return Event(process, at(ms), "EntryRemoved", {"client": client, "reason": reason, **others})


def tick(process: str, ms: float, **counters: int) -> Tick:
    return Tick(process, at(ms), counters, "", 0, 0, 0, 0)
