"""What the value of a field of each kind says, in words. Pure.

``wire.values`` reads the field first, so that what is wrong is said in the codec's own words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brokerweb.wirelab.moments import date_of, distance
from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.feed_messages import Change
from overlay.systems.context_broker.wire.kinds import Kind
from overlay.systems.context_broker.wire.messages import Status
from overlay.systems.context_broker.wire.table import LAYOUTS
from overlay.systems.context_broker.wire.values import READERS, read_integer

IN_WORDS = {
    Status.REQ_RECEIVED: "received",
    Status.REQ_PROCESSED: "done",
    Status.I_ERROR: "the broker could not do it",
    Status.DATA_NOT_FOUND: "no broker on the way has valid data",
    Status.BAD_REQUEST: "not a message that the broker accepts",
}


def words_of(kind: Kind, text: str, constant: str, now_ms: int) -> str:
    """What the field says; ``constant`` is the only value of a ``WORD``. Raises ``WireError`` for a wrong one."""
    if kind == Kind.WORD:
        if text != constant:
            raise WireError(f"must be {constant}, not {text[:40]!r}")
        return ""
    if kind == Kind.CODE:
        return _code(read_integer(text))
    if kind not in READERS:
        return ""
    value = READERS[kind](text)
    if kind == Kind.TIME:
        return f"{date_of(value)}, {distance(value, now_ms)}"
    return _WORDS[kind](value) if kind in _WORDS else ""


def _code(code: int) -> str:
    layout = LAYOUTS.get(code)
    if layout is None:
        raise WireError("no message has this code")
    return layout.name


def _status(code: int) -> str:
    status = Status(code)
    return f"{status.name}: {IN_WORDS[status]}"


def _address(address: Address) -> str:
    host, port = address
    return f"host {host}, port {port}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


_WORDS: Mapping[Kind, Callable[[Any], str]] = {
    Kind.INTEGER: str,
    Kind.TTL: lambda hops: f"{_counted(hops, 'hop')} at most",
    Kind.SIZE: lambda size: _counted(size, "byte"),
    Kind.CHANGE: {
        Change.ENTRY: "held, from its provider",
        Change.REPLICA: "held as a replica",
        Change.WITHDRAWN: "withdrawn",
        Change.DROPPED: "dropped before its ValidEnd",
    }.__getitem__,
    Kind.FLAG: {"A": "advertisement", "U": "update"}.__getitem__,
    Kind.ACK_STATUS: _status,
    Kind.NACK_STATUS: _status,
    Kind.REQUESTER: _address,
    Kind.ADDRESS: _address,
    Kind.COUNTERS: lambda counters: _counted(len(counters), "counter"),
}
