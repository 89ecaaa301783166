"""One question to one broker until it ends: answered, refused, not found, or given up.

Counterparts: ``questions`` says what is asked; ``lanes`` and ``overlay.runtime.client`` give each exchange a port::

    0         1 s       2 s                 4 s                           10 s
    ask ───── again ─── again ───────────── again ─────────────────────── give up     (each with a new timestamp)

    asking ──(the answer)──> ended ──(ACK 102, or one second)──> over
       └─────(NACK with one of our timestamps, or too late)──────┘
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from overlay.addresses import Address
from overlay.broker.messages import Ack, Nack, Status
from overlay.broker.wire import AnyMessage, encode, parse
from overlay.clients.questions import Question
from overlay.errors import InvalidSetting, WireError
from overlay.node import MILLISECOND, SECOND, Event

LINGER_NS = SECOND
"""How long the ACK 102 beside a Response is waited for before its port is given up."""


@dataclass(frozen=True, slots=True)
class Retry:
    """When an unanswered question is asked again; all counted from its first sending."""

    again_s: tuple[float, ...] = (1.0, 2.0, 4.0)
    """Seconds, rising. Earlier finds lost datagrams sooner, and burdens a broker that is merely slow."""
    give_up_s: float = 10.0
    """Seconds. As long as brokers remember a forwarded request by default: what comes later finds nobody."""

    def __post_init__(self) -> None:
        if not 0 < self.give_up_s <= 3600:
            raise InvalidSetting("give_up_s", f"must be more than 0 and at most 3600 s, not {self.give_up_s}")
        if list(self.again_s) != sorted(self.again_s) or any(at <= 0 for at in self.again_s):
            raise InvalidSetting("again_s", f"must be rising times above 0 s, not {self.again_s}")


@dataclass(slots=True)
class WallClock:
    """What to add to monotonic time to get Unix time. The driver keeps it right; clients of a process share one."""

    offset_ns: int = 0


class Timestamps:
    """Header timestamps that never repeat: the wall clock in milliseconds, or one more than the last."""

    __slots__ = ("_last", "_wall")

    def __init__(self, wall: WallClock) -> None:
        self._wall = wall
        self._last = 0

    def next(self, now: int) -> int:
        self._last = max((now + self._wall.offset_ns) // MILLISECOND, self._last + 1)
        return self._last


class Exchange:
    """A ``Node`` at one address, used once. It asks on creation; see ``outcome`` and ``is_over`` after each call."""

    __slots__ = (
        "_acknowledged",
        "_due",
        "_outgoing",
        "_question",
        "_retry",
        "_stamps",
        "_timestamps",
        "broker",
        "ended_at",
        "is_over",
        "outcome",
        "reply",
        "sent_at",
        "status",
    )

    def __init__(self, question: Question, broker: Address, now: int, timestamps: Timestamps, retry: Retry) -> None:
        self.broker = broker
        self.outcome = ""
        """One of ``facts.OUTCOMES``; empty while it is open."""
        self.status = 0
        """The status code that ended it; 102 for an answer, 0 when none came."""
        self.reply: AnyMessage | None = None
        self.sent_at = now
        self.ended_at = 0
        self.is_over = False
        """Whether nothing more is wanted from the port: the outcome is known, and so is what belongs beside it."""
        self._question = question
        self._timestamps = timestamps
        self._retry = retry
        self._stamps: list[int] = []
        self._acknowledged = False
        self._outgoing: list[tuple[bytes, Address]] = []
        self._ask(now)

    @property
    def attempts(self) -> int:
        return len(self._stamps)

    @property
    def first_stamp(self) -> int:
        """The header timestamp of the first sending, Unix ms."""
        return self._stamps[0]

    @property
    def is_clean(self) -> bool:
        """Whether no further answer can come, so that another exchange may use the port."""
        answered = self.outcome == "answered" and (self._acknowledged or not self._question.followed_by_ack)
        return self.is_over and self.attempts == 1 and (answered or isinstance(self.reply, Nack))

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        """Anything that is not the answer, or not from the broker asked, changes nothing."""
        if source != self.broker or self.is_over:
            return
        try:
            message = parse(data)
        except WireError:
            return
        if isinstance(message, Nack):
            if not self.outcome and message.timestamp in self._stamps:
                self._end("not_found" if message.status == Status.DATA_NOT_FOUND else "refused", message, now)
        elif self._question.is_answer(message):
            if not self.outcome:
                self._end("answered", message, now)
        elif isinstance(message, Ack) and message.status == Status.REQ_PROCESSED and self._question.followed_by_ack:
            self._acknowledged = True
            self.is_over = bool(self.outcome)

    def handle_timer(self, now: int) -> None:
        """Ask again, give up asking, or give up waiting for the last ACK."""
        if self.is_over or now < self._due:
            return
        if self.outcome:
            self.is_over = True
        elif now >= self._gives_up_at:
            self._end("timed_out", None, now)
        else:
            self._ask(now)

    def next_timer(self) -> int | None:
        return None if self.is_over else self._due

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def events(self) -> Sequence[Event]:
        return ()

    @property
    def _gives_up_at(self) -> int:
        return self.sent_at + round(self._retry.give_up_s * SECOND)

    def _ask(self, now: int) -> None:
        stamp = self._timestamps.next(now)
        self._outgoing.append((encode(self._question.make(stamp)), self.broker))
        self._stamps.append(stamp)
        again = (self.sent_at + round(at * SECOND) for at in self._retry.again_s)
        self._due = min([*(at for at in again if at > now), self._gives_up_at])

    def _end(self, outcome: str, reply: AnyMessage | None, now: int) -> None:
        self.outcome, self.reply, self.ended_at = outcome, reply, now
        self.status = reply.status if isinstance(reply, Nack) else int(Status.REQ_PROCESSED) if reply else 0
        waits_for_ack = outcome == "answered" and self._question.followed_by_ack and not self._acknowledged
        self.is_over = not waits_for_ack or self.attempts > 1
        self._due = now + LINGER_NS
