"""Cores of brokers and small clients in one process: messages are objects in queues, and time is moved by hand.

A queue is one direction of a session. What has arrived counts as unacknowledged for a while, so a session that ends
hands back messages that the other end has. ``random`` chooses which queue goes on next.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from overlay.channel import Down, Reason, Up
from overlay.core.node import SECOND
from overlay.peers.peers import Heard
from overlay.systems.silbops.broker.core import Core
from overlay.systems.silbops.broker.tracing import Tracer
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.tree import neighbours_of, tree_of
from overlay.systems.silbops.wire import messages as m
from tests.silbops.tree import check_publishers

NOWHERE = ("", 0)
MOST_UNACKNOWLEDGED = 3


class Queue:
    def __init__(self) -> None:
        self.waiting: deque[Any] = deque()
        self.arrived: deque[Any] = deque()
        """Not acknowledged yet."""
        self.is_closing = False

    def __len__(self) -> int:
        return len(self.waiting) + len(self.arrived)


class Peers:
    """What a core calls."""

    def __init__(self, world: World, id: bytes, bound: int) -> None:
        self._world, self.id, self._bound = world, id, bound
        self.now = 0
        self.counters: Counter[str] = Counter()
        self.paused: set[bytes] = set()
        self.heard: list[Any] = []

    def decoded(self, undelivered: Any) -> Any:
        return undelivered

    def open(self, peer: bytes, address: Any, keep: bool = False) -> bool:
        self._world.open(self.id, peer)
        return True

    def address(self, peer: bytes) -> Any:
        return NOWHERE if (self.id, peer) in self._world.queues else None

    def send(self, peer: bytes, message: Any, drop: int | None = None) -> bool:
        queue = self._world.queues.get((self.id, peer))
        if queue is None or queue.is_closing:
            return False
        queue.waiting.append(message)
        assert len(queue) < 2 * self._bound, "overflow"
        self.counters[type(message).__name__] += 1
        return True

    def send_each(self, peers: Sequence[bytes], message: Any) -> list[bytes]:
        return [peer for peer in peers if self.send(peer, message)]

    def encoded(self, message: Any) -> bytes | None:
        """A TAKE with more than three things is too large."""
        if isinstance(message, m.Take):
            size = len(message.subscriptions) + len(message.advertisements) + len(message.kept)
            return None if size > 3 else b"fits"
        return b"fits"

    def close(self, peer: bytes) -> None:
        queue = self._world.queues.get((self.id, peer))
        if queue is not None:
            queue.is_closing = True

    def give_up(self, peer: bytes) -> None:
        self._world.break_off(self.id, peer, Reason.OVERFLOW)

    def pause(self, peer: bytes) -> None:
        self.paused.add(peer)

    def resume(self, peer: bytes) -> None:
        self.paused.discard(peer)

    def is_full(self, peer: bytes) -> bool:
        return self.queued(peer) >= self._bound

    def queued(self, peer: bytes) -> int:
        return len(self._world.queues.get((self.id, peer), ()))

    def events(self) -> list[Any]:
        found, self.heard = self.heard, []
        return found


class App:
    """A client: what its application has set, and what it got."""

    def __init__(self, world: World, number: int, bound: int) -> None:
        self.world, self.id = world, bytes([number]) * 16
        self.peers = Peers(world, self.id, bound)
        self.home: bytes | None = None
        """The broker that it is attached to, or wants to be."""
        self.said: bytes | None = None
        """The last broker that said ATTACHED."""
        self.is_attached = False
        self.subscriptions: dict[int, m.Subscribe] = {}
        self.advertisements: dict[int, m.Advertise] = {}
        self.context: Any = None
        self.number = 0
        self.unanswered: dict[int, Any] = {}
        self.publications: list[m.Publish] = []
        """Not acknowledged by the channel."""
        self.received: dict[tuple[int, int], m.Notify] = {}
        self.repeats = 0
        self.refused: list[m.Refused] = []

    def attach(self, broker: str) -> None:
        has_session = (self.id, broker.encode()) in self.world.queues
        if has_session and self.home == broker.encode():
            return
        self.home, self.is_attached = broker.encode(), False
        if has_session:
            self._ask()
        else:
            self.world.open(self.id, self.home)

    def request(self, make: Any, *fields: Any) -> None:
        self.number += 1
        message = make(self.number, *fields)
        match message:
            case m.Subscribe():
                self.subscriptions[message.id] = message
            case m.Unsubscribe():
                self.subscriptions.pop(message.id, None)
            case m.Advertise():
                self.advertisements[message.id] = message
            case m.Unadvertise():
                self.advertisements.pop(message.id, None)
            case m.SetCtx():
                self.context = message
        if isinstance(message, m.Publish):
            self.publications.append(message)
        else:
            self.unanswered[message.req] = message
        if self.is_attached and self.home is not None:
            self.peers.send(self.home, message)

    def hear(self) -> None:
        for event in self.peers.events():
            match event:
                case Up():
                    if event.peer == self.home:
                        self._ask()
                case Down():
                    self._down(event)
                case Heard():
                    self._take(event.peer, event.message)

    def _ask(self) -> None:
        assert self.home is not None
        mode = m.Mode.NEW if self.said is None else m.Mode.RESUME
        old = None if self.said in (None, self.home) else self.said.decode()  # type: ignore[union-attr]
        self.peers.send(self.home, m.Attach(self.id, mode, old))

    def _down(self, event: Down) -> None:
        if event.peer != self.home:
            return
        self.is_attached = False
        self.world.open(self.id, self.home)

    def _take(self, peer: bytes, message: Any) -> None:
        match message:
            case m.Attached() if peer == self.home:
                self._attached(message.is_resumed)
            case m.Notify():
                self._notified(message)
            case m.Ok():
                self.unanswered.pop(message.req, None)
            case m.Refused():
                self.refused.append(message)
                self.unanswered.pop(message.req, None)

    def _attached(self, is_resumed: bool) -> None:
        assert self.home is not None
        if not is_resumed:
            everything = [self.context] if self.context else []
            everything += [*self.advertisements.values(), *self.subscriptions.values()]
            self.unanswered = {one.req: one for one in everything}
        self.said, self.is_attached = self.home, True
        for message in (*self.unanswered.values(), *self.publications):
            self.peers.send(self.home, message)

    def _notified(self, note: m.Notify) -> None:
        assert note.ids == tuple(sorted(note.ids))
        assert note.passed is None
        key = note.publisher, note.number
        if key in self.received:
            self.repeats += 1
        else:
            self.received[key] = note


class World:
    def __init__(
        self, brokers: int, links: Sequence[tuple[int, int]], random: Random, bound: int = 1_000, **settings: Any
    ) -> None:
        self.random, self.now = random, 0
        self.queues: dict[tuple[bytes, bytes], Queue] = {}
        self.cut: set[frozenset[bytes]] = set()
        """Pairs that have no session, and get none."""
        self.bound = bound
        self.apps: list[App] = []
        self.settings = Settings(channel_queue=bound, **settings)
        names = [f"b{number}" for number in range(brokers)]
        tree = tree_of(brokers, links)
        self.cores = {}
        for number, name in enumerate(names):
            around = [names[other] for other in neighbours_of(number, tree)]
            peers = Peers(self, name.encode(), bound)
            addresses = dict.fromkeys(names, NOWHERE)
            tracer = Tracer(self.settings.trace_one_in)
            self.cores[name.encode()] = Core(name, self.settings, peers, Random(number), addresses, around, tracer)
        self.advance(0)

    def app(self, broker: str | None = None) -> App:
        app = App(self, len(self.apps) + 1, 1_000_000)
        self.apps.append(app)
        if broker is not None:
            app.attach(broker)
        return app

    def core(self, name: str) -> Core:
        return self.cores[name.encode()]

    def app_of(self, id: bytes) -> App:
        return self.apps[id[0] - 1]

    def peers(self, id: bytes) -> Peers:
        return self.cores[id].peers if id in self.cores else self.app_of(id).peers  # type: ignore[no-any-return]

    # ---- sessions

    def open(self, one: bytes, other: bytes) -> None:
        if (one, other) in self.queues or frozenset((one, other)) in self.cut:
            return
        self.queues[one, other], self.queues[other, one] = Queue(), Queue()
        self.peers(one).heard.append(Up(other, NOWHERE))
        self.peers(other).heard.append(Up(one, NOWHERE))

    def end(self, one: bytes, other: bytes, reason: Reason = Reason.UNREACHABLE) -> None:
        """Both ends learn of it at once, and get back what was not acknowledged."""
        if self.break_off(one, other, reason):
            self._hear(one)
            self._hear(other)

    def break_off(self, one: bytes, other: bytes, reason: Reason) -> bool:
        """They hear of it next. Whether there was a session."""
        for sender, receiver in ((one, other), (other, one)):
            queue = self.queues.pop((sender, receiver), None)
            if queue is None:
                return False
            self.peers(sender).paused.discard(receiver)
            self.peers(sender).heard.append(Down(receiver, reason, [*queue.arrived, *queue.waiting]))
        return True

    def part(self, one: bytes, other: bytes) -> None:
        """They have no session until ``cut`` is cleared."""
        self.cut.add(frozenset((one, other)))
        self.end(one, other)

    # ---- time

    def advance(self, seconds: float) -> None:
        """Deadlines ring in order."""
        until = self.now + round(seconds * SECOND)
        while True:
            due = [(at, id) for id, core in self.cores.items() if (at := core.station.timers.next_timer()) is not None]
            at, id = min(due, default=(until + 1, b""))
            if at > until:
                break
            self.now = max(self.now, at)
            self._hear(id)
        self.now = until

    def step(self) -> bool:
        """One message arrives, a session ends, or a queue is acknowledged. Whether there was anything."""
        for id in [*self.cores, *(app.id for app in self.apps)]:
            if self.peers(id).heard:
                self._hear(id)
        able = sorted(self._able())
        if not able:
            return False
        sender, receiver = self.random.choice(able)
        queue = self.queues[sender, receiver]
        if queue.waiting:
            message = queue.waiting.popleft()
            queue.arrived.append(message)
            if len(queue.arrived) > MOST_UNACKNOWLEDGED:
                self._acknowledge(sender, queue)
            self.peers(receiver).heard.append(Heard(sender, message, 0))
            self._hear(receiver)
        elif queue.arrived:
            while queue.arrived:
                self._acknowledge(sender, queue)
        else:
            self.end(sender, receiver, Reason.CLOSED)
        if sender in self.cores and (sender, receiver) in self.queues:
            self._hear(sender)
        return True

    def settle(self) -> None:
        """Until nothing moves, with no time passing."""
        for _ in range(100_000):
            if not self.step():
                return
        raise AssertionError("not settled")

    def _able(self) -> Iterator[tuple[bytes, bytes]]:
        for (sender, receiver), queue in self.queues.items():
            is_paused = sender in self.peers(receiver).paused
            if (queue.waiting and not is_paused) or (not queue.waiting and (queue.arrived or queue.is_closing)):
                yield sender, receiver

    def _acknowledge(self, sender: bytes, queue: Queue) -> None:
        message = queue.arrived.popleft()
        if sender not in self.cores and message in self.app_of(sender).publications:
            self.app_of(sender).publications.remove(message)

    def _hear(self, id: bytes) -> None:
        if id not in self.cores:
            self.app_of(id).hear()
            return
        core = self.cores[id]
        core.begin(self.now)
        core.hear()
        core.check_invariants()
        check_publishers(core.station.tables)
