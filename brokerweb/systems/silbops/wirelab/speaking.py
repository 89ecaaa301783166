"""Who says a message to a broker, and what is said before, so that the broker takes it. Pure.

A client's message is said by a client that has attached. One that sets something ends it afterwards, and the broker
keeps the client, with nothing of it, for ``keep_s``. All others are said as they are, by ``wire-lab``.
"""

from __future__ import annotations

from typing import Any

from brokerweb.systems.silbops.wirelab.table import TABLE
from brokerweb.systems.silbops.wirelab.village import id_of
from brokerweb.wirelab.channel.talking import Speech
from overlay.messages.errors import BadMessage
from overlay.systems.silbops.content.filters import EVERYTHING
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.table import TO_BROKER

UNNAMED = b"wire-lab"
CLIENT = id_of("wire-lab")
_NO_REQUEST = 1 << 62
"""Of what is said around a message; far beyond the numbers that people type."""


def speech_of(message: bytes) -> Speech:
    """Never raises."""
    codec, code = TABLE.codec_of(message), TABLE.code_of(message)
    try:
        read: Any = codec.parse(message)
    except BadMessage:
        read = None
    if isinstance(read, m.Attach):
        return Speech(read.client, message)
    if isinstance(read, m.Peer) and read.broker:
        return Speech(read.broker.encode(), message)
    if code is None or TABLE.layouts[code].way != TO_BROKER:
        return Speech(UNNAMED, message)
    before = [codec.encode(m.Attach(CLIENT))]
    if isinstance(read, m.Publish):
        before.append(codec.encode(m.Advertise(_NO_REQUEST, 1, EVERYTHING, frozenset(read.context))))
    return Speech(CLIENT, message, tuple(before), tuple(map(codec.encode, _ends(read))))


def _ends(said: Any) -> tuple[m.Message, ...]:
    match said:
        case m.Subscribe():
            return (m.Unsubscribe(_NO_REQUEST + 1, said.id),)
        case m.Advertise():
            return (m.Unadvertise(_NO_REQUEST + 1, said.id),)
        case m.Publish():
            return (m.Unadvertise(_NO_REQUEST + 1, 1),)
    return ()


def is_last(asked: bytes, answer: bytes) -> bool:
    """Whether nothing more is said to ``asked`` after this answer."""
    try:
        question: Any = TABLE.codec_of(asked).parse(asked)
        said = TABLE.codec_of(answer).parse(answer)
    except BadMessage:
        return True
    match said:
        case m.Attached():
            return isinstance(question, m.Attach)
        case m.Ok(req) | m.Refused(req):
            return req in (0, getattr(question, "req", getattr(question, "number", 0)))
    return False
