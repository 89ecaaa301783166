"""Reads and writes messages as ``table`` says, for each arm. ``parse`` is total: any bytes give a message or
``BadMessage``.

Integers are the shortest that MessagePack has, other numbers float64, and maps are in the order of their names, so that
equal functions and contexts have equal bytes.
"""

from __future__ import annotations

from overlay.messages.codec import Codec, Coder
from overlay.messages.errors import BadMessage, Reason
from overlay.systems.silbops.wire import kinds
from overlay.systems.silbops.wire.kinds import Content
from overlay.systems.silbops.wire.messages import Code
from overlay.systems.silbops.wire.table import layouts

MAX_BYTES = 60_000
"""Of a message."""
MAX_CLIENT_BYTES = MAX_BYTES - 256
"""Of a message of a client. What brokers make of it is longer, as it has an owner and ids of subscriptions, too."""
_CODES = {Reason.SIZE: Code.TOO_LARGE, Reason.LIMIT: Code.LIMIT, Reason.EXPRESSION: Code.BAD_SCOPE}


def _codec(content: Content) -> Codec:
    return Codec(map(Coder, layouts(content)), MAX_BYTES)


SILBOPS = _codec(kinds.SILBOPS)
SIENA = _codec(kinds.SIENA)


def code_of(error: BadMessage) -> Code:
    """What REFUSED says of it."""
    return _CODES.get(error.reason, Code.MALFORMED)
