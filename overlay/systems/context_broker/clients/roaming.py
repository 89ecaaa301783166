"""A client that stays in a network: finds a broker from a bootstrap list, keeps what it provides stored there, and
moves to a better broker, or to another one if its own is silent. Pure.

::

    bootstrap ──> a broker ──(better one, see ``overlay.load.choice``; or silent)──> another broker
                                  each entry: 2 to the new one ──(102)──> 37 to the old one, if it is alive

An entry is withdrawn at the old broker only after the new one has acknowledged it, so at any time one that was
acknowledged has it, as long as brokers live. The withdrawal has the timestamp of what the old broker stored: newer
values that reach it as replicas are not refused. Validity is not extended by a move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND, SECOND
from overlay.journal.facts import ClientFact
from overlay.load.choice import STAY_NS, Candidate, Wish, better, ranked
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.bootstrap import Bootstrapper
from overlay.systems.context_broker.clients.exchange import Exchange, Retry, SameStamp, Timestamps, WallClock
from overlay.systems.context_broker.clients.lanes import Lanes
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.wire.messages import Key

PATIENCE = Retry(again_s=(0.3, 1.0), give_up_s=2.5)
"""Of an exchange with one broker; then the broker counts as silent."""
LOOK_NS = 10 * SECOND
"""Between two looks at other brokers, within 20 %."""
MOST_PROVIDED, MOST_ASKED = 4096, 1024
PROBES = 0
"""The lane of the bootstrapper; those of exchanges follow."""

Name = tuple[str, Key]
"""Provider and entity."""


class TooMany(Exception):
    """The client has as many entries or requests as it may have."""


@dataclass(slots=True, eq=False)
class Provision:
    """An entry that is kept stored until it expires. Milliseconds are Unix time."""

    name: Name
    payload: bytes
    valid_begin: int
    valid_end: int
    version: int = 1
    """Increases with each new value."""
    at: Address | None = None
    """The broker that acknowledged it last."""
    epoch: int = 0
    """That broker's start, if it said it."""
    stored: int = 0
    """The version that it acknowledged, and the header timestamp of that."""
    stamp: int = 0
    is_sent: bool = False
    """Whether an exchange about it is open."""
    refusal: int = 0
    """The status with which a broker refused it; it is not sent again."""

    def is_at(self, broker: Address, epoch: int) -> bool:
        """Whether this value is at this broker, which has not restarted since."""
        return self.at == broker and self.stored == self.version and self.epoch == epoch


@dataclass(slots=True, eq=False)
class Request:
    """A request for data, until it has an outcome: one of ``facts.OUTCOMES``."""

    key: Key
    deadline: int
    outcome: str = ""
    reply: bytes = b""
    """The Response, if it is answered."""


class Task(Exchange):
    """An exchange about an entry that is provided or withdrawn, or about a request."""

    __slots__ = ("epoch", "subject", "version")

    def __init__(
        self, subject: Provision | Request | None, question: Question, broker: Address, now: int, stamps: Timestamps
    ) -> None:
        super().__init__(question, broker, now, stamps, PATIENCE)
        self.subject = subject
        """``None``: a withdrawal."""
        self.version = subject.version if isinstance(subject, Provision) else 0
        self.epoch = 0
        """The broker's start, as it was known when the exchange began."""


class RoamingClient:
    """A client for drivers, as ``overlay.systems.cores.Client``. ``wish.who`` is its name."""

    peer = None
    is_finished = False

    def __init__(
        self,
        number: int,
        wall: WallClock,
        chance: Chance,
        wish: Wish,
        *,
        look_ns: int = LOOK_NS,
        stay_ns: int = STAY_NS,
    ) -> None:
        self.identity = "resident", number
        self.wish = wish
        self.bootstrap = Bootstrapper(wall, chance, refresh_ns=look_ns)
        self.broker: Address | None = None
        """The one it uses; ``None`` until one has answered."""
        self.moves: list[int] = []
        """The times of the latest moves to a better broker."""
        self.finished: list[Request] = []
        """Requests with an outcome, for the caller to take."""
        self.provided: dict[Name, Provision] = {}
        self._wall = wall
        self._chance = chance
        self._stay_ns = stay_ns
        self._since = 0
        self._rounds = 0
        self._stamps = Timestamps(wall)
        self._lanes: Lanes[Task] = Lanes()
        self._waiting: deque[Request] = deque()
        self._withdrawals: deque[tuple[Provision, Address, int]] = deque(maxlen=MOST_PROVIDED)
        self._outgoing: list[tuple[int, bytes, Address]] = []

    # ---- use

    def renew(self, listed: Iterable[Address], now: int) -> None:
        """The bootstrap list, or a newer one."""
        self.bootstrap.renew(listed, now)
        self._go_on(now)

    def provide(self, provider: str, key: Key, payload: bytes, valid_ms: int, now: int) -> Provision:
        """Keep data stored for ``valid_ms``, in place of earlier ones. Raises ``TooMany``, ``WireError``."""
        name, wall_ms = (provider, key), self._wall_ms(now)
        questions.update("A", provider, key, valid_ms, payload)  # raises for what no message can contain
        one = self.provided.get(name)
        if one is None and len(self.provided) >= MOST_PROVIDED:
            raise TooMany
        if one is None:
            one = self.provided[name] = Provision(name, payload, wall_ms, wall_ms + valid_ms)
        else:
            one.payload, one.valid_begin, one.valid_end = payload, wall_ms, wall_ms + valid_ms
            one.version, one.refusal = one.version + 1, 0
        self._go_on(now)
        return one

    def forget(self, provider: str, key: Key, now: int) -> None:
        """Withdraw an entry."""
        one = self.provided.pop((provider, key), None)
        if one is not None and one.at is not None:
            self._withdrawals.append((one, one.at, one.stamp))
        self._go_on(now)

    @property
    def is_idle(self) -> bool:
        """Whether no exchange is open and none waits."""
        return not (self._waiting or self._withdrawals or self._lanes.busy())

    def ask(self, key: Key, now: int, deadline: int) -> Request:
        """Request data. It waits while there is no broker. Raises ``TooMany``, ``WireError``."""
        questions.request(key)
        if len(self._waiting) >= MOST_ASKED:
            raise TooMany
        request = Request(key, deadline)
        self._waiting.append(request)
        self._go_on(now)
        return request

    # ---- the client

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        if lane == PROBES:
            self.bootstrap.receive_datagram(data, source, now)
        elif (task := self._lanes.exchange_on(lane - 1)) is not None:
            task.receive_datagram(data, source, now)
            self._settle(lane - 1, task, now)
        self._go_on(now)
        return True

    def handle_timer(self, now: int) -> None:
        timer = self.bootstrap.next_timer()
        if timer is not None and timer <= now:
            self.bootstrap.handle_timer(now)
        for lane, task in self._lanes.handle_timers(now):
            self._send(lane, task)
            self._settle(lane, task, now)
        self._go_on(now)

    def next_timer(self) -> int | None:
        due = [self.bootstrap.next_timer(), self._lanes.next_timer()]
        due += [request.deadline for request in self._waiting]
        return min((one for one in due if one is not None), default=None)

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        """``(lane, datagram, destination)``."""
        outgoing, self._outgoing = self._outgoing, []
        return [*((PROBES, data, to) for data, to in self.bootstrap.datagrams_to_send()), *outgoing]

    def lanes_to_close(self) -> Sequence[int]:
        return [lane + 1 for lane in self._lanes.to_close()]

    def facts(self) -> Sequence[ClientFact]:
        return ()

    def abandon(self, now: int) -> None:
        """Requests end without an answer."""
        for request in self._waiting:
            self._finish(request, "timed_out")
        self._waiting.clear()

    # ---- which broker

    def _go_on(self, now: int) -> None:
        """Choose a broker if there is none, or a better one after a round, and start what is to be done."""
        found = self.bootstrap
        if self.broker not in found.live and found.live:
            self._use(ranked(found.live.values(), self.wish)[0].address, now)
        elif found.rounds != self._rounds and self.broker in found.live and now >= self._since + self._stay_ns:
            self._look_around(found.live[self.broker], now)
        self._rounds = found.rounds
        self._start(now)

    def _look_around(self, here: Candidate, now: int) -> None:
        one = better(here, list(self.bootstrap.live.values()), self.wish, self._chance)
        if one is not None:
            self.moves = [*self.moves[-63:], now]
            self._use(one.address, now)

    def _use(self, broker: Address | None, now: int) -> None:
        if broker != self.broker:
            self.broker = self.bootstrap.pinned = broker
            self._since = now

    # ---- exchanges

    def _start(self, now: int) -> None:
        wall_ms = self._wall_ms(now)
        for request in [request for request in self._waiting if request.deadline <= now]:
            self._waiting.remove(request)
            self._finish(request, "timed_out")
        if self.broker is None:
            return
        epoch = self._epoch(self.broker)
        while self._waiting and self._lanes.has_room:
            request = self._waiting.popleft()
            self._exchange(request, questions.request(request.key, is_quiet=True), self.broker, self._stamps, now)
        for one in list(self.provided.values()):
            if one.valid_end <= wall_ms:
                del self.provided[one.name]
            elif not (one.is_at(self.broker, epoch) or one.is_sent or one.refusal) and self._lanes.has_room:
                one.is_sent = True
                self._exchange(one, self._update(one), self.broker, self._stamps, now)
        while self._withdrawals and self._lanes.has_room:
            one, broker, stamp = self._withdrawals.popleft()
            question = questions.withdrawal(*one.name, one.valid_end)
            self._exchange(None, question, broker, SameStamp(stamp), now)

    def _exchange(
        self, subject: Provision | Request | None, question: Question, broker: Address, stamps: Timestamps, now: int
    ) -> None:
        task = Task(subject, question, broker, now, stamps)
        task.epoch = self._epoch(broker)
        self._send(self._lanes.take(task), task)

    @staticmethod
    def _update(one: Provision) -> Question:
        begin, valid_ms = one.valid_begin, one.valid_end - one.valid_begin
        return questions.update("A", *one.name, valid_ms, one.payload, lambda _: begin)

    def _send(self, lane: int, task: Task) -> None:
        self._outgoing += [(lane + 1, data, to) for data, to in task.datagrams_to_send()]

    def _settle(self, lane: int, task: Task, now: int) -> None:
        if task.outcome and task.subject is not None:
            subject, task.subject = task.subject, None
            if isinstance(subject, Request):
                self._heard(subject, task, now)
            else:
                self._stored(subject, task, now)
        if task.is_over:
            self._lanes.release(lane)
        else:
            self._lanes.heed(task)

    def _heard(self, request: Request, task: Task, now: int) -> None:
        if task.outcome == "timed_out" and now < request.deadline:
            self.bootstrap.look(now)  # it may be searching, or gone
            self._waiting.append(request)
        else:
            request.reply = task.reply_bytes if task.outcome == "answered" else b""
            self._finish(request, task.outcome)

    def _finish(self, request: Request, outcome: str) -> None:
        request.outcome = outcome
        self.finished.append(request)

    def _stored(self, one: Provision, task: Task, now: int) -> None:
        """Note where it is now, and withdraw it where it was."""
        one.is_sent = False
        if task.outcome == "timed_out":  # updates are acknowledged at once
            self.bootstrap.failed(task.broker, now)
        elif task.outcome != "answered":
            one.refusal = task.status if task.version == one.version else 0
        else:
            old, old_stamp = one.at, one.stamp
            if self.provided.get(one.name) is not one:  # forgotten meanwhile
                self._withdrawals.append((one, task.broker, task.last_stamp))
            one.at, one.stored, one.stamp = task.broker, task.version, task.last_stamp
            one.epoch = task.epoch
            if old is not None and old != one.at and old in self.bootstrap.live:
                self._withdrawals.append((one, old, old_stamp))

    def _epoch(self, broker: Address | None) -> int:
        return 0 if broker is None else self.bootstrap.epochs.get(broker, 0)

    def _wall_ms(self, now: int) -> int:
        return (now + self._wall.offset_ns) // MILLISECOND

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if it has no broker although one answers, moves too often, or loses an entry."""
        self.bootstrap.check_invariants()
        assert self.broker is not None or not self.bootstrap.live, "no broker although one answers"
        assert all(later - earlier >= self._stay_ns for earlier, later in zip(self.moves, self.moves[1:], strict=False))
        busy = {task.subject for _, task in self._lanes.busy()}
        assert all(one.is_sent == (one in busy) for one in self.provided.values())
        assert (
            self.broker is None
            or not self._lanes.has_room
            or all(
                one.is_at(self.broker, self._epoch(self.broker)) or one.is_sent or one.refusal
                for one in self.provided.values()
            )
        ), "an entry that is stored nowhere, or elsewhere, and is not being sent"
