"""Conversations, held by a real server and real clients, so that no picture shows what neither sends. Pure.

Counterparts: the page of conversations, and ``docs/radiator-wire.md``. Datagrams arrive at once and in order; those to
a silent client get no answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from brokerweb.wirelab.lab import Conversation, Line
from brokerweb.wirelab.pictures import drawn
from overlay.core.addresses import Address
from overlay.core.binary import canonical
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND
from overlay.systems.radiator.middleware.middleware import Middleware
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import ServerConfig, Settings
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.table import KINDS

NOW = 1_795_338_000_000
"""Unix milliseconds, of every call."""
S, A, B, C, D = "S", "A", "B", "C", "D"
NAMES = {S: "server", A: "Alice", B: "Bob", C: "Carol", D: "Dave"}
ADDRESSES: dict[str, Address] = {name: (f"10.0.0.{at}", 7000 + at) for at, name in enumerate(NAMES, 1)}
_BY_ADDRESS = {address: name for name, address in ADDRESSES.items()}
MOST_TEXT = 60


class Room:
    """A server and clients. ``settings`` are the server's and the clients'."""

    def __init__(self, settings: dict[str, Any], clients: str) -> None:
        made = Settings(**{"codec": "none", "rto_ms": 100, **settings})
        self.now = 0
        self.silent = ""
        """The client that answers nothing."""
        self.lines: list[Line] = []
        """Since the last ``forget``."""
        self.server = Service(ServerConfig(made), ADDRESSES[S], Chances.streams(1))
        self.clients = {name: Middleware(made, 100 * at) for at, name in enumerate(clients, 1)}
        for client in self.clients.values():
            client.setup(ADDRESSES[S])

    def register(self, *names: str) -> None:
        for name in names or self.clients:
            client = self.clients[name]
            client.register_client(NAMES[name], lambda *_: None, {"floor": 2}, is_p2p=True, now=self.now)
            self._exchange()

    def propagate(self, name: str, **attributes: Any) -> None:
        context = canonical({"a": attributes, "n": 1, "p": [NAMES[name]], "t": [NOW, NOW]})
        self.clients[name].propagate_context(context, NOW * MILLISECOND, self.now)
        self._exchange()

    def unregister(self, name: str) -> None:
        self.clients[name].unregister_client(NAMES[name], self.now)
        self._exchange()

    def say(self, name: str, message: m.Message) -> None:
        """One datagram of a client to the server, and all that follows from it."""
        self._deliver(deque([Line(name, S, encode(message))]))

    def wait(self, ms: int) -> None:
        """Let all timers do what they do."""
        until = self.now + ms * MILLISECOND
        while (due := self._next_timer()) is not None and due <= until:
            self.now = max(self.now, due)
            self.server.handle_timer(self.now)
            for client in self.clients.values():
                client.handle_timer(self.now)
            self._exchange()
        self.now = until

    def forget(self) -> None:
        self.lines.clear()

    def _next_timer(self) -> int | None:
        timers = [self.server.next_timer(), *(client.next_timer() for client in self.clients.values())]
        return min((at for at in timers if at is not None), default=None)

    def _exchange(self) -> None:
        self._deliver(deque(self._sent()))

    def _deliver(self, under_way: deque[Line]) -> None:
        while under_way:
            line = under_way.popleft()
            self.lines.append(line)
            if line.receiver != self.silent:
                source = ADDRESSES[line.sender]
                self._node(line.receiver).receive_datagrams([(line.data, source)], self.now)
            under_way.extend(self._sent())

    def _node(self, name: str) -> Service | Middleware:
        return self.server if name == S else self.clients[name]

    def _sent(self) -> list[Line]:
        return [
            Line(name, _BY_ADDRESS[to], data)
            for name in (S, *self.clients)
            for data, to in self._node(name).datagrams_to_send()
        ]


# ---- pictures


def _label(data: bytes) -> str:
    """The kind, and the code of an answer."""
    message = parse(data)
    code = getattr(message, "code", None)
    return f"{KINDS[type(message)]}" if code is None else f"{KINDS[type(message)]} ({int(code)})"


def _text(data: bytes) -> str:
    """The name and what matters of it."""
    message: Any = parse(data)
    name = type(message).__name__
    if isinstance(message, m.Push):
        chain = "direct" if message.chain == m.DIRECT else f"chain {message.chain}, position {message.position}"
        return f"{name} of propagation {message.propagation}, {chain}, attempt {message.attempt}"
    if isinstance(message, m.Ack):
        return f"{name}: base {message.base}"
    if isinstance(message, m.Context):
        return f"{name} {_shortened(message.body.decode(errors='replace'))}"
    if hasattr(message, "position"):
        return f"{name}: position {message.position}, attempt {message.attempt}"
    said = {"epoch": "epoch", "key": "key", "token": "token"}
    values = {key: _shown(value) for key, value in message._asdict().items() if value not in (b"", 0)}
    fields = {key: said.get(key, value) for key, value in values.items()}
    return f"{name}: {', '.join(f'{key} {value}'.replace(f'{key} {key}', key) for key, value in fields.items())}"


def _shown(value: Any) -> Any:
    return canonical(value).decode() if isinstance(value, dict) else value


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"


# ---- what is said


def _registered(room: Room) -> None:
    room.register()


def _collided(room: Room) -> None:
    room.register(A)
    room.forget()
    other = m.Register(1, 8, 0, 1, NAMES[A], {})
    room.say(A, other)
    answer = parse(room.lines[-1].data)
    assert isinstance(answer, m.Registered)
    room.say(A, other._replace(token=answer.token))


def _pushed(room: Room) -> None:
    room.register()
    room.forget()
    room.propagate(A, speed=50)


def _aggregated(room: Room) -> None:
    _pushed(room)
    room.propagate(A, speed=60)


def _skipped(room: Room) -> None:
    room.register()
    room.forget()
    room.silent = D
    room.propagate(A, speed=50)
    room.wait(10_000)


def _malformed(room: Room) -> None:
    room.register()
    room.forget()
    room.say(A, m.Context(9, 100, NOW * MILLISECOND, 0, b"{}"))


def _unknown(room: Room) -> None:
    room.say(A, m.Context(9, 100, NOW * MILLISECOND, 0, b"{}"))
    room.say(A, m.Alive(100))


def _left(room: Room) -> None:
    room.register()
    room.forget()
    room.unregister(A)


_CHAINS = {"chain_percent": 100.0}
CONVERSATIONS: tuple[tuple[str, dict[str, Any], str, Callable[[Room], None]], ...] = (
    ("A client registers: its address is proven by a token", {}, A, _registered),
    ("Another instance with the same name is refused while the first is reachable", {}, A, _collided),
    ("A context is pushed directly", {}, A + B, _pushed),
    (
        "Two contexts are aggregated (`aggregability: {volume: 2}`)",
        {"aggregability": "{volume: 2}"},
        A + B,
        _aggregated,
    ),
    ("A context is pushed along a chain (`chain_percent: 100`)", _CHAINS, A + B + C + D, _pushed),
    ("A member of the chain does not acknowledge: FAILED, and the rest goes on", _CHAINS, A + B + C + D, _skipped),
    ("A context that cannot be read", {}, A, _malformed),
    ("A client that the server does not know", {}, A, _unknown),
    ("A client leaves", {}, A, _left),
)
"""Title, settings, clients, what is said."""


@cache
def held() -> Sequence[Conversation]:
    return tuple(_held(*one) for one in CONVERSATIONS)


def _held(title: str, settings: dict[str, Any], clients: str, hold: Callable[[Room], None]) -> Conversation:
    room = Room(settings, clients)
    hold(room)
    lines = tuple(Line(NAMES[one.sender], NAMES[one.receiver], one.data) for one in room.lines)
    order = [NAMES[name] for name in (A, S, B, C, D)]
    return Conversation(title, tuple(drawn(lines, {name: name for name in order}, order, _label, _text)), lines)
