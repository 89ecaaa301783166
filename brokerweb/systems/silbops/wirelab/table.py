"""The messages of SilboPS in the wire lab, with their texts, examples and words. Pure."""

from __future__ import annotations

from typing import Any

from brokerweb.systems.silbops.wirelab.examples import EXAMPLES
from brokerweb.wirelab.messagepack.messages import PackedMessages
from brokerweb.wirelab.messagepack.table import Choice, Table, Text
from overlay.core.errors import WireError
from overlay.core.settings import InvalidText
from overlay.messages.errors import BadMessage, Reason
from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.scope import text
from overlay.systems.silbops.scope.tree import read
from overlay.systems.silbops.wire import codec, kinds
from overlay.systems.silbops.wire import messages as m

VALUES = {
    "key": "client, and its number",
    "context": "context with its version",
    "subscription": "subscription",
    "advertisement": "advertisement",
    "kept": "notification that is kept",
}
"""Words for the values of ``docs/silbops-wire.md``."""


def _parsed(function: str) -> Any:
    try:
        return text.parse(function)
    except InvalidText as error:
        raise BadMessage(Reason.EXPRESSION, f"{error.sentence}, at character {error.at + 1}") from None


def _formatted(value: Any) -> str:
    return text.formatted(read(value))


def _bytes(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise BadMessage(Reason.TYPE, f"must be hexadecimal digits, not {digits!r:.40}") from None


def _digits(value: Any) -> str:
    if not isinstance(value, bytes):
        raise WireError("no bytes")
    return value.hex()


_CONTENTS = (kinds.SILBOPS, kinds.SIENA)
TABLE = Table(
    codecs={SILBOPS: codec.SILBOPS, SIENA: codec.SIENA},
    examples=EXAMPLES,
    harmless=(m.Attached, m.Notify, m.Ok, m.Refused),
    changes="It changes what the brokers of the network know, or reaches subscribers.",
    choice=Choice(
        "arm",
        "Arm",
        "siena has no functions of context; its filters may have more constraints, and names that begin with @.",
        tuple(kind.words for one in _CONTENTS for kind in (one.filter, one.notification, one.function)),
    ),
    texts={
        kinds.SILBOPS.function.words: Text(_parsed, _formatted),
        kinds.OWNER.words: Text(_bytes, _digits),
    },
    values=VALUES,
)
MESSAGES = PackedMessages(TABLE)
