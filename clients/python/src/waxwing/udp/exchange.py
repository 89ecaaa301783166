"""One exchange with the brokers of a list, until it is answered or given up. Pure: the time is an argument.

::

    0         1 s       2 s                 4 s                           10 s
    ask ───── again ─── again ───────────── again ─────────────────────── give up     (each with a new timestamp)

A broker that acknowledged is asked again; one that was silent is replaced by the next of the list, and one whose host
says that nothing listens there is replaced at once. Answers of all brokers asked count. A broker that searches for
longer than a second has acknowledged, and is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from waxwing import payloads
from waxwing.errors import NoAnswer, NothingFound, Refused, WaxwingError
from waxwing.udp import codec
from waxwing.udp.codec import Ack, Address, Pong, Response

AGAIN_S = (1.0, 2.0, 4.0)
GIVE_UP_S = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What answered, from ``broker``, the client's own; it may have found the data at another one."""

    broker: str
    reply: Response | Ack | Pong

    @property
    def data(self) -> Response:
        """The data. Only for ``ask``."""
        assert isinstance(self.reply, Response)
        return self.reply

    @property
    def text(self) -> str:
        """The payload, unchanged."""
        return self.data.text

    @property
    def payload(self) -> dict[str, str] | None:
        """Its pairs; ``None`` if it is not made of pairs."""
        return payloads.pairs(self.text)


@dataclass(frozen=True, slots=True)
class Question:
    """What to send, by timestamp, and what answers it."""

    write: Callable[[int, int], bytes]
    """With the header timestamp, and the time now; of many messages at once the timestamps lie ahead (Unix ms)."""
    is_answer: Callable[[Response | Ack | Pong], bool]


def update(provider: str, key: tuple[str, str, str], payload: bytes, valid_ms: int) -> Question:
    """Store. Raises ``InvalidMessage``."""

    def write(stamp: int, now: int) -> bytes:
        return codec.update(stamp, provider, key, now, now + valid_ms, payload)

    write(1, 1)  # what cannot be written is refused before anything is sent
    return Question(write, lambda reply: _is_done(reply, codec.UPDATE))


def request(key: tuple[str, str, str]) -> Question:
    """Raises ``InvalidMessage``."""
    codec.request(1, key)

    def is_answer(reply: Response | Ack | Pong) -> bool:
        return isinstance(reply, Response) and (reply.type, reply.entity, reply.scope) == key

    return Question(lambda stamp, now: codec.request(stamp, key), is_answer)


def withdrawal(provider: str, key: tuple[str, str, str], until: int) -> Question:
    """Raises ``InvalidMessage``."""
    codec.withdraw(1, provider, key, until)
    return Question(
        lambda stamp, now: codec.withdraw(stamp, provider, key, until), lambda reply: _is_done(reply, codec.WITHDRAW)
    )


def ping() -> Question:
    return Question(lambda stamp, now: codec.ping(stamp), lambda reply: isinstance(reply, Pong))


def _is_done(reply: Response | Ack | Pong, operation: str) -> bool:
    is_ack = isinstance(reply, Ack) and not reply.is_nack
    return is_ack and (reply.status, reply.operation) == (codec.PROCESSED, operation)  # type: ignore[union-attr]


class Stamps:
    """Header timestamps: Unix milliseconds, each used once."""

    def __init__(self) -> None:
        self._last = 0

    def next(self, unix_ms: int) -> int:
        self._last = max(unix_ms, self._last + 1)
        return self._last


class Exchange:
    """``brokers`` in the order in which they are asked. Times in seconds on any clock that never goes back.

    Its ports are its own: only a NACK has the timestamp of the request, an ACK and a Response have others.
    Send what ``to_send`` returns; then wait until ``due`` at most for a datagram. ``answer`` is set at the end, or
    ``error``.
    """

    def __init__(
        self,
        question: Question,
        brokers: Sequence[Address],
        stamps: Stamps,
        now: float,
        give_up_s: float = GIVE_UP_S,
    ) -> None:
        self.answer: Answer | None = None
        self.error: WaxwingError | None = None
        self._question = question
        self._brokers = list(brokers)
        self._stamps = stamps
        self._sent: set[int] = set()
        self._at = 0
        self._is_alive = False
        """Whether the present broker has acknowledged."""
        self._closed: set[Address] = set()
        self._began = now
        self._give_up_s = give_up_s
        self._instants = [*(at for at in AGAIN_S if at < give_up_s), give_up_s]
        self._is_due = True

    @property
    def is_over(self) -> bool:
        return self.answer is not None or self.error is not None

    @property
    def due(self) -> float:
        return self._began if self._is_due else self._began + self._instants[0]

    @property
    def broker(self) -> Address:
        """The one that is asked now."""
        return self._brokers[self._at]

    def to_send(self, now: float, unix_ms: int) -> tuple[bytes, Address] | None:
        """The datagram that is due, and its broker."""
        if self.is_over:
            return None
        if not self._is_due:
            if now < self._began + self._instants[0]:
                return None
            self._instants.pop(0)
            if not self._instants:
                self.error = NoAnswer(self._silence())
                return None
            if not self._is_alive:
                self._next()
        self._is_due = False
        stamp = self._stamps.next(unix_ms)
        self._sent.add(stamp)
        return self._question.write(stamp, unix_ms), self.broker

    def closed(self, broker: Address) -> None:
        """The host says that nothing listens there. A broker that restarts will be back, so the last one is kept."""
        if self.is_over or broker != self.broker:
            return
        self._closed.add(broker)
        if len(self._closed) < len(set(self._brokers)):
            self._next()
            self._is_due = True

    def receive(self, data: bytes, broker: Address) -> None:
        """A datagram from a broker that was asked."""
        reply = None if self.is_over else codec.read(data)
        if reply is None:
            return
        if self._question.is_answer(reply):
            self.answer = Answer(_text(broker), reply)
        elif isinstance(reply, Ack) and not reply.is_nack:
            self._is_alive = self._is_alive or broker == self.broker
        elif isinstance(reply, Ack) and reply.timestamp in self._sent:
            self._refused(reply, broker)

    def _silence(self) -> str:
        asked = ", ".join(map(_text, self._brokers))
        closed = len(self._closed) == len(set(self._brokers))
        return f"no answer from {asked} within {self._give_up_s:g} s{': nothing listens there' if closed else ''}"

    def _refused(self, reply: Ack, broker: Address) -> None:
        if reply.status == codec.NOT_FOUND:
            self.error = NothingFound(f"{_text(broker)} found no valid data")
        else:
            self.error = Refused(_text(broker), reply.status)

    def _next(self) -> None:
        """The next broker that is not known to be closed, if there is one."""
        self._is_alive = False
        for step in range(1, len(self._brokers) + 1):
            at = (self._at + step) % len(self._brokers)
            if self._brokers[at] not in self._closed:
                self._at = at
                return
        self._at = (self._at + 1) % len(self._brokers)


def _text(address: Address) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
