"""When to send a request again, and how long to wait before. Pure: the time and chance are arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from waxwing.calls import Call

LONGEST_STREAM_PAUSE_S = 30.0
REFUSED_FOR_NOW = (429, 503)
"""Not carried out: every request may be sent again."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How persistent a client is. ``Retry(attempts=1)`` sends each request once."""

    attempts: int = 8
    """Of one request, the first included: 11 to 23 s, in which a server starts again."""
    first_s: float = 0.2
    """The first wait; each further one is twice as long."""
    longest_s: float = 10.0
    """One wait, unless the server names a longer one."""
    budget_s: float = 60.0
    """All waits of one request together. A longer ``Retry-After`` is not waited for."""


class Attempts:
    """The attempts of one request. ``chance`` gives numbers from 0 to 1."""

    def __init__(self, policy: Retry, call: Call, chance: Callable[[], float]) -> None:
        self._policy = policy
        self._call = call
        self._chance = chance
        self._made = 0
        self._waited_s = 0.0

    def after_answer(self, status: int, headers: Mapping[str, str], now: datetime) -> float | None:
        """Seconds to wait before the next attempt; ``None`` if this answer is final."""
        named = retry_after(headers, now)
        if status in REFUSED_FOR_NOW or (status == 409 and named is not None and self._call.is_repeatable):
            return self._next(named)
        return None

    def after_failure(self, *, was_sent: bool) -> float | None:
        """The same after a failure of the connection; ``was_sent``: the server may have carried it out."""
        return self._next(None) if self._call.is_repeatable or not was_sent else None

    def _next(self, named_s: float | None) -> float | None:
        policy = self._policy
        self._made += 1
        if self._made >= policy.attempts:
            return None
        usual = min(policy.longest_s, policy.first_s * 2.0 ** (self._made - 1))
        wait = (named_s or 0.0) + usual * (0.5 + self._chance() / 2)
        if self._waited_s + wait > policy.budget_s:
            return None
        self._waited_s += wait
        return wait


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds of ``Retry-After`` (RFC 9110, 10.2.3: a number or a date); ``None`` without one that can be read."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    from email.utils import parsedate_to_datetime  # takes 28 ms to import, and servers rarely name a date

    try:
        at = parsedate_to_datetime(text)
        return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now.timestamp())
    except (ValueError, OverflowError):
        return None


def stream_pause_s(named_s: float | None, failures: int, chance: float) -> float:
    """The wait before a stream is opened again."""
    usual = min(LONGEST_STREAM_PAUSE_S, 0.25 * 2.0**failures) if failures else 0.1
    return max(named_s or 0.0, usual * (0.5 + chance / 2))
