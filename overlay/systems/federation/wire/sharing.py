"""Values that cross many links unchanged: brokers of one process, in simulations, read and keep each of them once."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from overlay.messages.codec import pack
from overlay.messages.kinds import Kind

_UNWRITABLE = (ValueError, TypeError, OverflowError)
"""What MessagePack raises for what is nested too deeply, for one."""


def shared(kind: Kind) -> Kind:
    """``kind``, of which equal values are one object as long as anyone has it."""
    known: WeakValueDictionary[bytes, Any] = WeakValueDictionary()

    def read(value: Any) -> Any:
        try:
            data = pack(value)
        except _UNWRITABLE:
            return kind.read(value)
        found = known.get(data)
        if found is None:
            found = known[data] = kind.read(value)
        return found

    return Kind(kind.words, read, kind.write, kind.parts, kind.each)
