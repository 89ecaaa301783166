"""When a broker is asked for its changes next. Pure; times are monotonic nanoseconds.

::

    ask ──(answer)──> ask again at once; it waits at the broker for a change
     └──(silence)──> ask for an answer at once, after growing pauses; after ``SILENT_AFTER`` of them it is silent
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

    __slots__ = ("_asked", "due")

    def __init__(self, now: int) -> None:
        self.due = now
        self._asked = 0
        """Questions since the last answer."""

    @property
    def is_first(self) -> bool:
        """Whether the next question is no repetition, so that it may wait at the broker."""
        return self._asked == 0

    @property
    def is_silent(self) -> bool:
        return self._asked > SILENT_AFTER

    def asked(self, now: int, wait_ms: int) -> None:
        """A question was sent that waits at the broker for up to ``wait_ms``."""
        self._asked += 1
        pause = PATIENCE_NS + wait_ms * MILLISECOND if self._asked == 1 else self._pause()
        self.due = now + pause

    def answered(self, now: int) -> None:
        self._asked = 0
        self.due = now

    def failed(self, now: int) -> None:
        """Its host reports a closed port, or the broker refuses."""
        self._asked = max(self._asked, SILENT_AFTER + 1)
        self.due = now + self._pause()

    def _pause(self) -> int:
        return int(min(FIRST_NS << min(max(self._asked - 2, 0), 10), LONGEST_NS))
