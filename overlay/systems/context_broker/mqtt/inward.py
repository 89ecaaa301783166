"""The queue towards the network: one operation per entry at a time, and acknowledgements in their order. Pure.

::

    add ──> waiting ──> flying ──(stored)──> acknowledged
              ^  │ └─(a later one of the entry)─> superseded: acknowledged together with that
              │  └──(refused too often, unfit)──> given up: acknowledged, counted
              └──(refused, no answer)── pause

MQTT asks for acknowledgements in the order of the messages (5.0, 4.6), so each waits for those before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush

from overlay.core.node import SECOND
from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.mqtt.values import Value

FIRST_PAUSE_NS, LONGEST_PAUSE_NS = SECOND // 2, 30 * SECOND


class Outcome(StrEnum):
    """How an operation on the network ended."""

    STORED = "stored"
    REFUSED = "refused"
    UNANSWERED = "unanswered"
    UNFIT = "unfit"
    """No datagram can carry it."""


@dataclass(slots=True, eq=False)
class Token:
    """A message that awaits its acknowledgement."""

    mid: int
    """Its number in the connection."""
    is_done: bool = False


@dataclass(slots=True, eq=False)
class Operation:
    """Store a value, or (``is_withdrawal``) withdraw what its provider says up to its timestamp."""

    value: Value
    is_withdrawal: bool = False
    topic: str = ""
    arrived: int = 0
    """Monotonic nanoseconds."""
    tokens: list[Token] = field(default_factory=list)
    tries: int = 0
    refusals: int = 0

    @property
    def name(self) -> Name:
        return self.value.name

    @property
    def size(self) -> int:
        return len(self.value.payload)


class Inward:
    """``at_once`` operations fly; one that is refused ``most_refusals`` times is given up."""

    def __init__(self, at_once: int, most_refusals: int) -> None:
        self._at_once = at_once
        self._most_refusals = most_refusals
        self._waiting: dict[Name, Operation] = {}
        self._flying: dict[Name, Operation] = {}
        self._ready: deque[Name] = deque()
        self._pausing: list[tuple[int, int, Name]] = []
        self._paused: set[Name] = set()
        self._pauses = 0
        self._unacknowledged: deque[Token] = deque()
        self.superseded = 0
        self.bytes = 0
        """Of the payloads that wait or fly."""

    def __len__(self) -> int:
        return len(self._waiting) + len(self._flying)

    @property
    def unacknowledged(self) -> int:
        return len(self._unacknowledged)

    def latest(self, name: Name) -> Operation | None:
        """The last operation on an entry that has not ended."""
        return self._waiting.get(name) or self._flying.get(name)

    def track(self, token: Token) -> None:
        """A message has arrived that is to be acknowledged."""
        self._unacknowledged.append(token)

    def forget_tokens(self) -> None:
        """The connection has ended: the server sends again what was not acknowledged."""
        self._unacknowledged.clear()

    def add(self, operation: Operation) -> None:
        """Do this next with its entry; what waits for the same entry is superseded."""
        name = operation.name
        older = self._waiting.get(name)
        self._waiting[name] = operation
        self.bytes += operation.size - (older.size if older is not None else 0)
        if older is not None:
            operation.tokens = older.tokens + operation.tokens
            self.superseded += 1
        elif name not in self._flying and name not in self._paused:
            self._ready.append(name)

    def take(self, now: int) -> Sequence[Operation]:
        """Operations to begin."""
        self._wake(now)
        taken = []
        while self._ready and len(self._flying) < self._at_once:
            operation = self._waiting.pop(self._ready.popleft())
            self._flying[operation.name] = operation
            taken.append(operation)
        return taken

    def ended(self, operation: Operation, outcome: Outcome, now: int) -> bool:
        """Returns whether the operation is over."""
        name = operation.name
        del self._flying[name]
        operation.tries += 1
        operation.refusals += outcome is Outcome.REFUSED
        is_over = outcome in (Outcome.STORED, Outcome.UNFIT) or operation.refusals >= self._most_refusals
        if is_over:
            self.bytes -= operation.size
            for token in operation.tokens:
                token.is_done = True
            if name in self._waiting:
                self._ready.append(name)
        else:
            self._again(operation, now)
        return is_over

    def take_acknowledgements(self) -> Sequence[Token]:
        """Those whose turn has come."""
        done = []
        while self._unacknowledged and self._unacknowledged[0].is_done:
            done.append(self._unacknowledged.popleft())
        return done

    def next_timer(self) -> int | None:
        return self._pausing[0][0] if self._pausing else None

    def _again(self, operation: Operation, now: int) -> None:
        name = operation.name
        newer = self._waiting.get(name)
        if newer is not None:
            newer.tokens = operation.tokens + newer.tokens
            newer.tries = operation.tries
            self.bytes -= operation.size
            self.superseded += 1
        else:
            self._waiting[name] = operation
        pause = min(FIRST_PAUSE_NS << min(operation.tries - 1, 10), LONGEST_PAUSE_NS)
        self._pauses += 1
        self._paused.add(name)
        heappush(self._pausing, (now + pause, self._pauses, name))

    def _wake(self, now: int) -> None:
        while self._pausing and self._pausing[0][0] <= now:
            name = heappop(self._pausing)[2]
            self._paused.discard(name)
            self._ready.append(name)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        assert len(self._flying) <= self._at_once
        assert len(set(self._ready)) == len(self._ready)
        assert self._paused == {name for _, _, name in self._pausing}
        assert not self._paused & self._flying.keys()
        assert self._waiting.keys() == (set(self._ready) | self._paused | (self._waiting.keys() & self._flying.keys()))
        assert self.bytes == sum(one.size for one in [*self._waiting.values(), *self._flying.values()])
        assert all(operation.name == name for name, operation in [*self._waiting.items(), *self._flying.items()])
