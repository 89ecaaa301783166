"""Who says a message to a server, and what is said around it, so that the server takes it. Pure.

A client's message is said by a client that is registered before, and unregistered afterwards. All others are said as
they are: who sends them is in them, or ``wire-lab``.
"""

from __future__ import annotations

from typing import Any

from brokerweb.systems.federation.wirelab.table import TABLE
from brokerweb.wirelab.channel.talking import Speech
from overlay.messages.codec import Codec
from overlay.messages.errors import BadMessage
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.layouts import BROKER, CLIENT
from overlay.systems.federation.wire.values import Advertisement, Role

UNNAMED = "wire-lab"
MOST_SCOPES = 64
_OWN = (m.Register, m.Unregister)
"""Messages about the registration itself."""
_OTHERS_ANSWERS = (m.Ack, m.Found, m.Answer, m.Here, m.Nack)


def speech_of(message: bytes, now_ms: int) -> Speech:
    """Never raises."""
    codec, code = TABLE.codec_of(message), TABLE.code_of(message)
    try:
        read: Any = codec.parse(message)
    except BadMessage:
        read = None
    name = _name(read)
    kind = None if code is None else TABLE.layouts[code]
    if kind is None or not _is_of_clients(kind.way) or kind.message in _OWN:
        return Speech(name.encode(), message, is_loose=isinstance(read, m.Discover))
    before, after = _around(codec, name, _scopes(read), 1_000 * now_ms)
    return Speech(name.encode(), message, (before,), (after,))


def _is_of_clients(way: str) -> bool:
    sender, _, receiver = way.partition(" → ")
    return CLIENT in sender and BROKER in receiver


def _around(codec: Codec, name: str, scopes: tuple[str, ...], number: int) -> tuple[bytes, bytes]:
    """The registration, and its end. Neither asks for an answer."""
    role = Role.PROVIDER if scopes else Role.CONSUMER
    register = m.Register(0, Advertisement(name, number, role, "", scopes))
    return codec.encode(register), codec.encode(m.Unregister(0, number))


def _scopes(message: Any) -> tuple[str, ...]:
    if not isinstance(message, m.Publish):
        return ()
    return tuple(dict.fromkeys(one.notification.scope for one in message.publications))[:MOST_SCOPES]


def _name(message: Any) -> str:
    match message:
        case m.Register(_, advertisement):
            return advertisement.id
        case m.Subscribe(_, added, removed) if added or removed:
            return (added[0].id if added else removed[0]).client
        case m.Publish(_, publications) if publications:
            return publications[0].notification.id.provider
        case m.Hello(broker) | m.Broker(_, broker) | m.Here(_, broker):
            return broker.id
    return UNNAMED


def is_last(asked: bytes, answer: bytes) -> bool:
    """Whether nothing more is said to ``asked`` after this answer."""
    try:
        question: Any = TABLE.codec_of(asked).parse(asked)
        said = TABLE.codec_of(answer).parse(answer)
    except BadMessage:
        return True
    if isinstance(question, m.Discover):
        return isinstance(said, m.Here)
    if isinstance(said, m.Nack) or isinstance(question, m.Lookup | m.Query | m.Find | m.Unregister):
        return isinstance(said, _OTHERS_ANSWERS)
    return False
