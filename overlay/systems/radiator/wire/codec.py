"""Reads and writes datagrams as ``table`` says."""

from __future__ import annotations

from struct import Struct

from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.table import FORMAT, KINDS, MAGIC

BEGINNING = Struct(">4xIQ")
"""Of a request: magic and kind, ``req``, ``instance``."""


def parse(data: bytes) -> m.Message:
    """The message in a datagram. Raises ``WireError`` and nothing else."""
    message: m.Message = FORMAT.parse(data)
    return message


encode = FORMAT.encode


def beginning(data: bytes) -> tuple[type | None, int, int]:
    """Class, ``req`` and ``instance`` of a REGISTER or CONTEXT that is malformed after them; ``None`` and 0 for other
    bytes."""
    kind = next((one for one in (m.Register, m.Context) if data.startswith(MAGIC + bytes([KINDS[one]]))), None)
    if kind is None or len(data) < BEGINNING.size:
        return None, 0, 0
    return kind, *BEGINNING.unpack_from(data)
