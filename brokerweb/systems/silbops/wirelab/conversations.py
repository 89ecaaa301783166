"""Conversations, held by real brokers and clients, so that no picture shows what neither sends. Pure.

Counterparts: the page of conversations, and ``docs/silbops-wire.md``. They have messages: what the channel adds to them
is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from brokerweb.systems.silbops.wirelab.table import MESSAGES
from brokerweb.systems.silbops.wirelab.village import Village, id_of
from brokerweb.wirelab.lab import Conversation, Line
from brokerweb.wirelab.pictures import drawn
from overlay.systems.silbops.content.filters import read_filter
from overlay.systems.silbops.names import SIENA
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.wire import messages as m

NOW = 1_795_338_000_000
"""Unix milliseconds, when each begins."""
ORDER = ("car", "b0", "b1", "camera")
NAMES = {"car": "subscriber car", "camera": "publisher camera", "b0": "broker b0", "b1": "broker b1"}
_NEAR = parse("this.x - 20 <= pub.x <= this.x + 20")
_FAST = read_filter([["speed", ">", 90]])
_SPEED = {"speed": 104.5}


def _edge(village: Village) -> None:
    village.wait(100)


def _subscribed(village: Village) -> None:
    _edge(village)
    village.forget()
    village.client("camera", "b1")
    _do(village, lambda: village.nodes["camera"].set_context({"x": 30}, village.now))
    _do(
        village,
        lambda: village.nodes["camera"].advertise(read_filter([["speed", "any"]]), frozenset({"x"}), village.now),
    )
    village.client("car", "b0")
    _do(village, lambda: village.nodes["car"].set_context({"x": 12.5}, village.now))
    _do(village, lambda: village.nodes["car"].subscribe(_FAST, village.now, scope=_NEAR))


def _published(village: Village) -> None:
    _subscribed(village)
    village.forget()
    _publish(village)


def _moved_context(village: Village) -> None:
    _subscribed(village)
    village.forget()
    _do(village, lambda: village.nodes["car"].set_context({"x": 80}, village.now))
    _publish(village)
    _do(village, lambda: village.nodes["car"].set_context({"x": 40}, village.now))
    _publish(village)


def _moved_client(village: Village) -> None:
    _subscribed(village)
    village.forget()
    village.nodes["car"].detach(village.now)
    village.exchange()
    village.wait(50)
    _publish(village)
    village.attach("car", "b1")
    village.wait(50)


def _refused(village: Village) -> None:
    _edge(village)
    village.forget()
    peers = village.stranger("car", id_of("car")).peers
    peers.now = village.now
    peers.channel.open(b"b0", village.address("b0"), village.now)
    for message in (m.Unsubscribe(1, 5), m.Attach(id_of("car")), m.Unsubscribe(2, 5)):
        peers.send(b"b0", message)
        village.exchange()
    peers.channel.send(b"b0", b"\x92\x0e\x01", village.now)
    village.exchange()


def _publish(village: Village) -> None:
    _do(village, lambda: village.nodes["camera"].publish(_SPEED, village.now))


def _do(village: Village, act: Callable[[], Any]) -> None:
    act()
    village.exchange()
    village.wait(50)


CONVERSATIONS: tuple[tuple[str, Mapping[str, Any], Callable[[Village], None]], ...] = (
    ("Brokers open the edge of the tree", {}, _edge),
    ("A publisher advertises, and a subscriber subscribes with a function of its context", {}, _subscribed),
    ("A publication in the subscriber's square", {}, _published),
    ("The square moves away and back: contexts are told, and no subscription is sent", {}, _moved_context),
    ("The same with contexts written into subscriptions (`arm: siena`)", {"arm": SIENA}, _moved_context),
    ("A subscriber goes away and comes back at another broker, which sends what was kept", {}, _moved_client),
    ("A client that has not attached, and a message that cannot be read", {}, _refused),
)
"""Title, settings, what is said."""


@cache
def held() -> Sequence[Conversation]:
    return tuple(_held(*one) for one in CONVERSATIONS)


def _held(title: str, settings: Mapping[str, Any], hold: Callable[[Village], None]) -> Conversation:
    village = Village(NOW, settings=settings)
    hold(village)
    lines = tuple(Line(NAMES[one.sender], NAMES[one.receiver], one.data) for one in village.messages())
    order = [NAMES[name] for name in ORDER]
    return Conversation(title, tuple(drawn(lines, {name: name for name in order}, order, _label, _text)), lines)


def _label(data: bytes) -> str:
    code = MESSAGES.code_of(data)
    return next((one.name for one in MESSAGES.all if one.code == code), "unreadable")


def _text(data: bytes) -> str:
    return MESSAGES.summary(data).partition(": ")[2]
