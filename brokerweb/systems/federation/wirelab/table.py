"""The messages of the federation in the wire lab, with their texts, examples and words. Pure."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import indent, tostring

from brokerweb.systems.federation.wirelab.examples import EXAMPLES
from brokerweb.wirelab.messagepack.messages import PackedMessages
from brokerweb.wirelab.messagepack.table import Choice, Table, Text
from overlay.core.errors import WireError
from overlay.core.settings import InvalidText
from overlay.messages.errors import BadMessage, Reason
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.contextml.xml import parse as parse_xml
from overlay.systems.federation.language import text
from overlay.systems.federation.language.tree import read, written
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.codec import CODEC
from overlay.systems.federation.wire.composites import ADVERTISEMENT, EXPRESSION, SUBSCRIPTION
from overlay.systems.federation.wire.notes import NOTIFICATION

MSGPACK, XML = "msgpack", "contextml"
"""Names of the codecs."""
VALUES = {
    "sub": "subscription",
    "note": "notification",
    "adv": "advertisement",
    "badv": "advertisement of a broker",
    "entry": "entry of a registration table",
    "sid": "id of a subscription",
    "nid": "id of a notification",
    "sum": "sum of a table",
}
"""Words for the values of ``docs/federation.md``."""


def _parsed(expression: str) -> list[Any]:
    try:
        return written(text.parse(expression))
    except InvalidText as error:
        raise BadMessage(Reason.EXPRESSION, f"{error.sentence}, at character {error.at + 1}") from None


def _formatted(value: Any) -> str:
    return text.formatted(read(value)) or "true"


def _likely(message: bytes) -> str:
    """That of networks with ContextML, if the message has some in it."""
    return XML if b"<ctx" in message else MSGPACK


def _indented(document: str) -> str:
    if not document.startswith("<"):
        return ""
    try:
        element = parse_xml(document)
    except WireError:
        return ""
    indent(element)
    return tostring(element, encoding="unicode")


TABLE = Table(
    codecs={MSGPACK: CODEC, XML: CONTEXTML},
    forms={XML: CODEC},
    examples=EXAMPLES,
    harmless=(
        *(m.KeepAlive, m.Lookup, m.Found, m.Query, m.Answer, m.Tables),
        *(m.Find, m.Discover, m.Here, m.Ack, m.Nack, m.Link),
    ),
    changes="It changes what the servers of the network know.",
    choice=Choice(
        "encoding",
        "Encoding",
        "Of subscriptions, notifications and advertisements: binary, or as XML.",
        tuple(kind.words for kind in (SUBSCRIPTION, NOTIFICATION, ADVERTISEMENT)),
    ),
    texts={EXPRESSION.words: Text(_parsed, _formatted)},
    values=VALUES,
    guess=_likely,
    indented=_indented,
    inside="ContextML",
)
MESSAGES = PackedMessages(TABLE)
