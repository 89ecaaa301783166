"""One exchange with a broker, until it is answered, refused, not found, or given up.

Counterparts: ``questions`` defines the messages; ``lanes`` and ``overlay.programs.context_broker.client`` give each
exchange a port::

    0         1 s       2 s                 4 s                           10 s
    ask ───── again ─── again ───────────── again ─────────────────────── give up     (each with a new timestamp)

    asking ──(the answer)──> ended ──(ACK 102, or one second)──> over
       └─────(NACK with one of our timestamps, or too late)──────┘
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from overlay.core.addresses import Address
from overlay.core.errors import InvalidSetting, WireError
from overlay.core.node import MILLISECOND, SECOND, NodeEvent
from overlay.systems.context_broker.broker.tracing import is_sampled
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.fast.replies import stamp_of
from overlay.systems.context_broker.wire.codec import parse
from overlay.systems.context_broker.wire.messages import Nack, Status
from overlay.systems.context_broker.wire.table import AnyMessage

LINGER_NS = SECOND
"""How long to wait for the ACK 102 that accompanies a Response, before the port is given up."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The times of retransmissions, all relative to the first transmission."""

    again_s: tuple[float, ...] = (1.0, 2.0, 4.0)
    """Seconds, increasing. Earlier times detect lost datagrams sooner, but add load to slow brokers."""
    give_up_s: float = 10.0
    """Seconds. Equal to the default time that brokers keep a forwarded request; later answers cannot arrive."""
    instants: tuple[int, ...] = field(init=False, repr=False)
    """Nanoseconds: the retransmissions and the time of giving up."""

    def __post_init__(self) -> None:
        if not 0 < self.give_up_s <= 3600:
            raise InvalidSetting("give_up_s", f"must be more than 0 and at most 3600 s, not {self.give_up_s}")
        if list(self.again_s) != sorted(self.again_s) or any(at <= 0 for at in self.again_s):
            raise InvalidSetting("again_s", f"must be rising times above 0 s, not {self.again_s}")
        again = [at for at in self.again_s if at < self.give_up_s]
        object.__setattr__(self, "instants", tuple(round(at * SECOND) for at in [*again, self.give_up_s]))


@dataclass(slots=True)
class WallClock:
    """The offset from monotonic to Unix time. The driver keeps it correct; the clients of a process share one."""

    offset_ns: int = 0


class Timestamps:
    """Unique header timestamps: the wall clock in milliseconds, but greater than the previous one."""

    __slots__ = ("_last", "_wall")

    def __init__(self, wall: WallClock) -> None:
        self._wall = wall
        self._last = 0

    def next(self, now: int) -> int:
        self._last = max((now + self._wall.offset_ns) // MILLISECOND, self._last + 1)
        return self._last


class SameStamp(Timestamps):
    """One timestamp for all transmissions, to any broker."""

    __slots__ = ("_stamp",)

    def __init__(self, stamp: int) -> None:
        super().__init__(WallClock())
        self._stamp = stamp

    def next(self, now: int) -> int:
        return self._stamp


class TracedTimestamps(Timestamps):
    """Timestamps of queries that brokers trace if they trace one in ``one_in``; for one port, used once.

    Chooses the next such timestamp within ``AHEAD_MS``, or the current one if there is none.
    """

    __slots__ = ("_one_in", "_port")

    AHEAD_MS = 10_000
    """Well within the 30 s by which the clocks of a broker and a consumer may differ."""

    def __init__(self, wall: WallClock, port: int, one_in: int) -> None:
        super().__init__(wall)
        self._port = port
        self._one_in = one_in

    def next(self, now: int) -> int:
        plain = super().next(now)
        ahead = range(plain, plain + self.AHEAD_MS)
        self._last = next((stamp for stamp in ahead if is_sampled(stamp, self._port, self._one_in)), plain)
        return self._last


class Exchange:
    """A ``Node`` at one address, used once. It sends on creation; check ``outcome`` and ``is_over`` after each call."""

    __slots__ = (
        "_due",
        "_is_acknowledged",
        "_outgoing",
        "_question",
        "_reply",
        "_retry",
        "_stamps",
        "_timestamps",
        "broker",
        "ended_at",
        "is_over",
        "outcome",
        "sent_at",
        "status",
    )

    def __init__(self, question: Question, broker: Address, now: int, timestamps: Timestamps, retry: Retry) -> None:
        self.broker = broker
        self.outcome = ""
        """One of ``facts.OUTCOMES``; empty while it is open."""
        self.status = 0
        """The status code that ended it; 102 for an answer, 0 without one."""
        self.sent_at = now
        self.ended_at = 0
        self.is_over = False
        """Whether the port is no longer needed: the outcome is known and the accompanying ACK has arrived or timed
        out."""
        self._question = question
        self._timestamps = timestamps
        self._retry = retry
        self._reply = b""
        self._is_acknowledged = question.is_last is None
        stamp = timestamps.next(now)
        self._stamps = [stamp]
        self._outgoing = [(question.write(stamp), broker)]
        self._due = now + retry.instants[0]

    @property
    def attempts(self) -> int:
        return len(self._stamps)

    @property
    def first_stamp(self) -> int:
        """The header timestamp of the first transmission, Unix ms."""
        return self._stamps[0]

    @property
    def last_stamp(self) -> int:
        """The header timestamp of the last transmission, Unix ms."""
        return self._stamps[-1]

    @property
    def reply(self) -> AnyMessage | None:
        """The message that ended it; ``None`` if none arrived."""
        return parse(self._reply) if self._reply else None

    @property
    def reply_bytes(self) -> bytes:
        """The same as it arrived; empty if none did."""
        return self._reply

    @property
    def reply_data(self) -> bytes:
        """The bytes of that message; empty if none arrived."""
        return self._reply

    @property
    def reply_stamp(self) -> int:
        """The header timestamp of that message, Unix ms; 0 if none arrived."""
        return stamp_of(self._reply) if self._reply else 0

    @property
    def is_clean(self) -> bool:
        """Whether no further answer can arrive, so that another exchange can use the port."""
        if not self.is_over or len(self._stamps) > 1 or not self._reply:
            return False
        return self._is_acknowledged or self.outcome != "answered"

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            self.receive_datagram(data, source, now)

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        """Ignores everything but the answer of the broker asked."""
        if self.is_over or source != self.broker:
            return
        question = self._question
        if not self.outcome and question.is_answer(data):
            self._end("answered", Status.REQ_PROCESSED, data, now)
        elif question.is_last is not None and question.is_last(data):
            self._is_acknowledged = True
            self.is_over = bool(self.outcome)
        elif not self.outcome and data.startswith(b"6|"):
            self._hear_refusal(data, now)

    def handle_timer(self, now: int) -> None:
        """Retransmit, give up, or stop waiting for the last ACK."""
        if self.is_over or now < self._due:
            return
        if self.outcome:
            self.is_over = True
        elif now >= self.sent_at + self._retry.instants[-1]:
            self._end("timed_out", 0, b"", now)
        else:
            self._ask_again(now)

    def next_timer(self) -> int | None:
        return None if self.is_over else self._due

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def events(self) -> Sequence[NodeEvent]:
        return ()

    def _ask_again(self, now: int) -> None:
        stamp = self._timestamps.next(now)
        self._outgoing.append((self._question.write(stamp), self.broker))
        self._stamps.append(stamp)
        instants = self._retry.instants
        self._due = self.sent_at + instants[bisect_right(instants, now - self.sent_at)]

    def _hear_refusal(self, data: bytes, now: int) -> None:
        try:
            message = parse(data)
        except WireError:
            return
        if isinstance(message, Nack) and message.timestamp in self._stamps:
            outcome = "not_found" if message.status == Status.DATA_NOT_FOUND else "refused"
            self._end(outcome, message.status, data, now)

    def _end(self, outcome: str, status: int, reply: bytes, now: int) -> None:
        self.outcome, self.status, self.ended_at, self._reply = outcome, int(status), now, reply
        waits_for_ack = outcome == "answered" and not self._is_acknowledged and len(self._stamps) == 1
        self.is_over = not waits_for_ack
        self._due = now + LINGER_NS
