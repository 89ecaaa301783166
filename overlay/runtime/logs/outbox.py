"""The appends of a member on their way to an engine: waiting, or sent and not yet durable; later in a slow log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from overlay.core.node import NEVER
from overlay.log.member import Member
from overlay.log.topics import Append

MOST_UNDER_WAY = 1_000
"""Appends without an answer."""


class Outbox:
    def __init__(self, member: Member) -> None:
        self.delay_ns = 0
        """A fault: what is taken from now on leaves so much later."""
        self._member = member
        self._under_way: deque[Append] = deque()
        """Sent, the oldest first; ``member.appends`` are those that were not."""
        self._leaves_at: deque[tuple[int, int]] = deque()
        """While the log is slow: when so many of ``member.appends`` leave."""

    def taken(self, count: int, now: int) -> None:
        """So many are new."""
        if count and (self.delay_ns or self._leaves_at):
            self._leaves_at.append((max(now + self.delay_ns, self._leaves_at[-1][0] if self._leaves_at else 0), count))

    @property
    def next_timer(self) -> int:
        return self._leaves_at[0][0] if self._leaves_at else NEVER

    @property
    def is_empty(self) -> bool:
        return not self._under_way and not self._member.appends

    def leaving(self, now: int, may_leave: Callable[[], bool] = lambda: True) -> Iterator[Append]:
        """Those to be sent now, each when the one before was, as long as the next one may leave."""
        waiting = self._member.appends
        while waiting and len(self._under_way) < MOST_UNDER_WAY and may_leave():
            if self._leaves_at:
                at, count = self._leaves_at[0]
                if at > now:
                    return
                self._leaves_at[0] = at, count - 1
                if count == 1:
                    self._leaves_at.popleft()
            append = waiting.popleft()
            self._under_way.append(append)
            yield append

    def durable(self) -> None:
        """The oldest that was sent."""
        self._member.durable((self._under_way.popleft().token,))

    @property
    def oldest(self) -> Append:
        """Of those that were sent. There is one."""
        return self._under_way[0]

    def drop(self) -> None:
        """The oldest that was sent: the engine refuses it, and is not asked again."""
        self._under_way.popleft()

    def hurry(self) -> None:
        """Nothing is late any more."""
        self._leaves_at.clear()

    def again(self) -> None:
        """What was sent and is not durable is sent again, from its first on."""
        self._member.appends.extendleft(reversed(self._under_way))
        self._under_way.clear()
        self.hurry()
