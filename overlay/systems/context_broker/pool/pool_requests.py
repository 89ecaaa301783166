"""One request through one broker of a network after another, until it has an outcome.

Pure: the pool starts its tries, tells it how they ended, and asks it what is due::

    start ── try ──(silent for CHECK)── ping ──(no answer)──> next broker
              │ └──(p95, budget)── hedge: a second broker at the same time
              ├──(answer)──> over
              └──(not found, refused, port closed)─────> next broker, at most MOST_ASKED
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.clients.exchange import Timestamps
from overlay.systems.context_broker.clients.questions import Question

if TYPE_CHECKING:
    from overlay.systems.context_broker.pool.ports import Try

CHECK_NS = SECOND // 5
"""Silence after which a broker is pinged: it may be searching, or gone."""
CHECK_AGAIN_NS = 2 * SECOND
RESTART_NS = 100 * MILLISECOND
"""Pause before the brokers are tried once more if the port of each is closed: one that restarts is back soon."""
MOST_ASKED = 5
"""Brokers that may answer that they have nothing; a walk may miss what another finds. Dead ones do not count."""


class PoolRequest:
    """A request. ``outcome`` is one of ``facts.OUTCOMES``; empty while it is open."""

    __slots__ = (
        "_check_at",
        "_heard",
        "_hedge_at",
        "_next",
        "_restart_at",
        "answered",
        "began",
        "brokers",
        "deadline",
        "failed",
        "is_alone",
        "is_search",
        "open",
        "outcome",
        "question",
        "strategy",
        "timer",
        "timestamps",
        "trace_one_in",
        "waiter",
    )

    def __init__(
        self,
        question: Question,
        brokers: Sequence[Address],
        now: int,
        deadline: int,
        *,
        timestamps: Timestamps | None = None,
        is_alone: bool = False,
        hedge_ns: int | None = None,
        trace_one_in: int = 0,
    ) -> None:
        """``timestamps`` are those of an update, ``None`` for a search; ``is_alone``: only the first broker is asked;
        ``hedge_ns``: when a second one is."""
        self.question = question
        self.brokers = brokers[:1] if is_alone else brokers
        self.began = now
        self.deadline = deadline
        self.timestamps = timestamps
        self.is_search = timestamps is None
        self.is_alone = is_alone
        self.trace_one_in = trace_one_in
        self.open: list[Try] = []
        """Tries in progress, at most two."""
        self.failed: list[tuple[Address, str, int]] = []
        """Broker, outcome (also ``silent``, ``unreachable``) and status of tries that led to nothing."""
        self.answered: Try | None = None
        """The try that decided the outcome, if one did."""
        self.outcome = ""
        self.strategy = ""
        """``first``, ``next`` or ``hedged``: which try was answered."""
        self.timer = 0
        """When the pool looks at it next."""
        self.waiter: object = None
        """The driver's."""
        self._next = 0
        self._heard = 0
        """Brokers that had nothing, or refused."""
        self._restart_at: int | None = None
        self._check_at = now + CHECK_NS
        self._hedge_at = None if hedge_ns is None or len(self.brokers) < 2 else now + hedge_ns

    @property
    def has_more(self) -> bool:
        """Whether there is a broker that was not tried, and one more may be asked."""
        return self._next < len(self.brokers) and self._heard < MOST_ASKED

    def take_broker(self) -> Address:
        """The next one to try."""
        broker = self.brokers[self._next]
        self._next += 1
        return broker

    def next_timer(self) -> int:
        due = min(self.deadline, self._check_at)
        if self._hedge_at is not None and self._hedge_at < due:
            due = self._hedge_at
        if self._restart_at is not None and self._restart_at < due:
            due = self._restart_at
        for each in self.open:
            timer = each.exchange.next_timer()
            if timer is not None and timer < due:
                due = timer
        return due

    def is_hedge_due(self, now: int) -> bool:
        """Once: the time has come for a second broker."""
        if self._hedge_at is None or now < self._hedge_at:
            return False
        self._hedge_at = None
        return self.has_more and len(self.open) == 1

    def is_check_due(self, now: int) -> bool:
        """The brokers that are being asked are to be pinged."""
        if now < self._check_at:
            return False
        self._check_at = now + CHECK_AGAIN_NS
        return True

    def is_restart_due(self, now: int) -> bool:
        """All brokers are to be tried once more."""
        if self._restart_at is None or now < self._restart_at:
            return False
        self._restart_at, self._next = None, 0
        return True

    def try_ended(self, one: Try, outcome: str, status: int, now: int) -> bool:
        """Take note of the outcome of a try. Returns whether the next broker is to be tried."""
        self.open.remove(one)
        if outcome == "answered":
            self._end(one, outcome)
            return False
        self.failed.append((one.exchange.broker, outcome, status))
        del self.failed[:-MOST_ASKED]
        if outcome == "refused" and not self.is_search:
            self._end(one, outcome)
            return False
        self._heard += outcome in ("not_found", "refused")
        if outcome == "not_found":
            self.answered = one
        if self.open:
            return False
        if self.has_more:
            self._check_at = now + CHECK_NS
            return True
        if outcome == "unreachable" and not self.answered:
            self._restart_at = now + RESTART_NS
        else:
            self.give_up()
        return False

    def give_up(self) -> None:
        """No broker is left, or no time."""
        if not self.outcome:
            self.outcome = "not_found" if self.answered else "timed_out"

    def _end(self, one: Try, outcome: str) -> None:
        self.answered, self.outcome = one, outcome
        self.strategy = "hedged" if one.is_hedge else "next" if self.failed else "first"
