"""Conversations, held by real servers and clients, so that no picture shows what neither sends. Pure.

Counterparts: the page of conversations, and ``docs/federation-wire.md``. The first has the channel's datagrams, the
others messages: what the channel adds to them is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from brokerweb.systems.federation.wirelab.table import MESSAGES
from brokerweb.systems.federation.wirelab.village import Village
from brokerweb.wirelab.channel.table import FORMAT
from brokerweb.wirelab.lab import Conversation, Line
from brokerweb.wirelab.pictures import drawn
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Asked, Content
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.wire import messages as m

NOW = 1_795_338_000_000
"""Unix milliseconds, when each begins."""
MINUTE_MS = 60_000
ORDER = ("c0", "b0", "b1", "p0", "bdrs")
NAMES = {"c0": "consumer c0", "p0": "provider p0", "b0": "broker b0", "b1": "broker b1", "bdrs": "service bdrs"}
_WARM = parse("temperature > 25")


def _climate(asked: Asked | None = None) -> Content:
    return Content("room", "r17", "climate", NOW + MINUTE_MS, {"temperature": 26.5})


def _tree(village: Village) -> None:
    village.wait(100)


def _session(village: Village) -> None:
    _tree(village)
    village.forget()
    peers = village.stranger("c0").peers
    peers.now = village.now
    peers.open("b0", village.site("b0").address)
    peers.send("b0", m.Lookup(0, "climate"))
    village.exchange()
    village.wait(50)
    peers.now = village.now
    peers.close("b0")
    village.exchange()


def _registered(village: Village) -> None:
    _tree(village)
    village.forget()
    village.consumer("c0", "b0")
    village.provider("p0", "b1", ("climate",), _climate)
    village.wait(50)


def _subscribed(village: Village) -> None:
    _registered(village)
    village.forget()
    _consumer(village).subscribe([Wanted(("climate",), NOW + MINUTE_MS, _WARM)], village.now)
    village.exchange()
    village.wait(50)
    village.nodes["p0"].publish(_climate(), village.now)
    village.exchange()
    village.wait(50)


def _asked(village: Village) -> None:
    _registered(village)
    village.forget()
    _consumer(village).lookup("climate", village.now)
    village.exchange()
    _consumer(village).query(("climate",), village.now, entity_type="room", entity_id="r17")
    village.exchange()


def _once(village: Village) -> None:
    _registered(village)
    village.forget()
    _consumer(village).subscribe([Wanted(("climate",), NOW + MINUTE_MS, once=True)], village.now)
    village.exchange()
    village.wait(50)


def _found(village: Village) -> None:
    _tree(village)
    village.forget()
    peers = village.stranger("c0").peers
    peers.now = village.now
    peers.send_loose(village.site("b0").address, m.Discover(7))
    village.exchange()
    peers.open("bdrs", village.site("bdrs").address)
    peers.send("bdrs", m.Find(1, (0.5, 0.5)))
    village.exchange()


def _refused(village: Village) -> None:
    _tree(village)
    village.forget()
    peers = village.stranger("c0").peers
    peers.now = village.now
    peers.open("b0", village.site("b0").address)
    peers.send("b0", m.Unregister(1, 5))
    peers.channel.send(b"b0", MESSAGES.compose(4, {}, NOW), village.now)
    village.exchange()
    peers.channel.send(b"b0", b"\x92\x08\x01", village.now)
    village.exchange()


def _left(village: Village) -> None:
    _subscribed(village)
    village.forget()
    _consumer(village).leave(village.now)
    village.exchange()
    village.wait(50)


def _consumer(village: Village) -> Any:
    return village.nodes["c0"]


_XML = {"encoding": "contextml"}
CONVERSATIONS: tuple[tuple[str, Mapping[str, Any], Callable[[Village], None]], ...] = (
    ("A session of the channel, with one message", {}, _session),
    ("Brokers register, and open the edge of the tree", {}, _tree),
    ("A consumer and a provider register, and brokers tell each other", {}, _registered),
    ("A subscription goes to the provider, and its notification comes back", {}, _subscribed),
    ("A subscription that ends with its first notification", {}, _once),
    ("Providers are looked up, and one is asked", {}, _asked),
    ("A broker is discovered, and others are found at the registration service", {}, _found),
    ("A client that the broker does not know, and a message that cannot be read", {}, _refused),
    ("A consumer leaves", {}, _left),
    ("A subscription in a network with ContextML (`encoding: contextml`)", _XML, _subscribed),
)
"""Title, settings, what is said."""


@cache
def held() -> Sequence[Conversation]:
    return tuple(_held(*one) for one in CONVERSATIONS)


def _held(title: str, settings: Mapping[str, Any], hold: Callable[[Village], None]) -> Conversation:
    village = Village(NOW, settings=settings)
    hold(village)
    found = village.lines if hold is _session else village.messages()
    lines = tuple(Line(NAMES[one.sender], NAMES[one.receiver], one.data) for one in found)
    order = [NAMES[name] for name in ORDER]
    return Conversation(title, tuple(drawn(lines, {name: name for name in order}, order, _label, _text)), lines)


def _label(data: bytes) -> str:
    if kind := FORMAT.layout_of(data):
        return kind.short.removeprefix("channel ")
    code = MESSAGES.code_of(data)
    return next((one.name for one in MESSAGES.all if one.code == code), "unreadable")


def _text(data: bytes) -> str:
    if FORMAT.layout_of(data):
        fields = FORMAT.parse(data)._asdict()
        shown = {name: fields[name] for name in ("to", "seq", "ack", "incarnation", "id", "nonce") if fields.get(name)}
        return ", ".join(f"{name} {hex(value) if name in _LONG else value}" for name, value in shown.items())
    return MESSAGES.summary(data).partition(": ")[2]


_LONG = ("to", "incarnation", "nonce")
"""Numbers of 64 bits."""
