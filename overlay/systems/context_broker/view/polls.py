"""When a broker is asked for its changes next. Pure; times are monotonic nanoseconds.

::

    ask ──(answer)──> ask again at once; it waits at the broker for a change
     └──(silence)──> ask for an answer at once, after growing pauses; after ``SILENT_AFTER`` of them it is silent

Those who need an answer soon ask ahead of time, many at once: they share the question that is on its way. One question
for each would overflow the socket of the broker, and be taken for as many repetitions without an answer.
"""

from __future__ import annotations

from overlay.core.node import MILLISECOND, SECOND

PATIENCE_NS = SECOND // 2
"""How long an answer may take, beyond what the broker was asked to wait."""
FIRST_NS, LONGEST_NS = 200 * MILLISECOND, 10 * SECOND
"""Pauses between repetitions: the first, then twice as long each time, up to the second."""
SILENT_AFTER = 3
"""Repetitions without an answer."""


class Poll:
    """Of one broker. The driver asks when ``due`` has come."""

    __slots__ = ("_asked", "_prompt_at", "due")

    def __init__(self, now: int) -> None:
        self.due = now
        self._asked = 0
        """Questions since the last answer, without those that were asked while it did not answer ahead of time."""
        self._prompt_at: int | None = None
        """When the latest question was sent that is answered at once, and is not answered yet."""

    @property
    def is_first(self) -> bool:
        """Whether the next question is no repetition, so that it may wait at the broker."""
        return self._asked == 0

    @property
    def is_silent(self) -> bool:
        return self._asked > SILENT_AFTER

    def may_hurry(self, now: int) -> bool:
        """Whether to ask ahead of time: no question that is answered at once is on its way."""
        return self._prompt_at is None or now >= self._prompt_at + FIRST_NS

    def asked(self, now: int, wait_ms: int) -> None:
        """A question was sent that waits at the broker for up to ``wait_ms``."""
        is_ahead = self._asked > 1 and now < self.due
        self._prompt_at = None if wait_ms else now
        if is_ahead:
            return
        self._asked += 1
        pause = PATIENCE_NS + wait_ms * MILLISECOND if self._asked == 1 else self._pause()
        self.due = now + pause

    def answered(self, now: int) -> None:
        self._asked = 0
        self._prompt_at = None
        self.due = now

    def failed(self, now: int) -> None:
        """Its host reports a closed port, or the broker refuses."""
        self._asked = max(self._asked, SILENT_AFTER + 1)
        self.due = now + self._pause()

    def _pause(self) -> int:
        return int(min(FIRST_NS << min(max(self._asked - 2, 0), 10), LONGEST_NS))
