"""Records: a message is the concatenation of its records.

A record is two bytes and its part of the message: the top bit says that the message goes on in the next record, the
other 15 are the length, from 1. Records keep their two bytes wherever they are stored, so they can be sent again as
they are.
"""

from __future__ import annotations

from typing import Final

GOES_ON: Final = 0x80
"""In the first byte of a record."""
_LENGTHS: Final = [length.to_bytes(2, "big") for length in range(2_048)]
"""Of most records, so that none is made for each."""


def record(part: bytes) -> bytes:
    """The last record of a message."""
    length = len(part)
    return (_LENGTHS[length] if length < 2_048 else length.to_bytes(2, "big")) + part


def cut(message: bytes, most: int) -> list[bytes]:
    """The records of a message: all but the last have ``most`` bytes of it."""
    last = (len(message) - 1) // most * most
    goes_on = (most | 0x8000).to_bytes(2, "big")
    return [*(goes_on + message[at : at + most] for at in range(0, last, most)), record(message[last:])]


def split(data: bytes, at: int, end: int) -> list[bytes]:
    """The records from ``at`` on; empty if they do not fill the datagram exactly, or if one has no bytes."""
    found: list[bytes] = []
    last = end - 2
    while at < last:
        stop = at + 2 + ((data[at] & 0x7F) << 8 | data[at + 1])
        if stop > end or stop == at + 2:
            return []
        found.append(data[at:stop])
        at = stop
    return found if at == end else []


def joined(parts: list[bytes]) -> bytes:
    """The message of these records."""
    return b"".join([part[2:] for part in parts])
