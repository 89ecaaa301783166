"""The types of fields of records, with their limits (contract, sections 2, 8 and 13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final

from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import shown
from overlay.messages.errors import Reason, refuse
from overlay.messages.kinds import ADDRESS as ADDRESS_TEXT
from overlay.messages.kinds import SHORT, SHORT_TEXT, Kind, elements, listed, number, text, unsigned

ID_BYTES: Final = 16
"""Of a node's id and of a message's."""
MOST_NAME: Final = SHORT
"""Bytes of the name of a gateway, application, definer or group."""
MOST_PAYLOAD: Final = 60_000
"""Bytes."""
MOST_CONTEXT: Final = 1_024
"""Bytes."""
MOST_NODES: Final = 4_096
"""In a part of a connection report."""
MOST_TTL: Final = 604_800
"""Seconds."""
MOST_GATEWAYS: Final = 255
"""In a list of them: the transport counts them in a byte."""
MOST_GROUPS: Final = 64
"""Of a node."""
MOST_ATTEMPTS: Final = 65_535
"""That are counted."""
MOST_REJECTED: Final = 65_536
"""Bytes of a record that cannot be read, which are kept."""


def _in_range(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            _out_of_range(value, low, high)
        return int(value)

    return read


def _out_of_range(value: Any, low: int, high: int) -> None:
    unsigned(value)
    refuse(Reason.RANGE, f"{shown(value)} is not in {low:,} … {high:,}")


def whole(low: int, high: int, unit: str = "") -> Kind:
    return Kind(f"{low:,} to {high:,} {unit}".rstrip(), _in_range(low, high))


def octets(least: int, most: int) -> Kind:
    def read(value: Any) -> bytes:
        if type(value) is not bytes:
            refuse(Reason.TYPE, f"{shown(value)} is no bytes")
        if not least <= len(value) <= most:
            wanted = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            refuse(Reason.RANGE, f"{len(value):,} bytes instead of {wanted}")
        return value

    return Kind(f"{least} bytes" if least == most else f"{least} to {most:,} bytes", read)


def one_of(words: Sequence[str], make: Callable[[str], str] = str) -> Kind:
    named = ", ".join(words)

    def read(value: Any) -> str:
        if type(value) is not str and not isinstance(value, StrEnum):
            refuse(Reason.TYPE, f"{shown(value)} is no text")
        if value not in words:
            refuse(Reason.RANGE, f"{shown(value)} is none of {named}")
        return make(value)

    return Kind(named, read, str)


def share(value: Any) -> float:
    found = number(value)
    if not 0 <= found <= 1:
        refuse(Reason.RANGE, f"{found} is not in 0 … 1")
    return found


def positive(value: Any) -> float:
    found = number(value)
    if found < 0:
        refuse(Reason.RANGE, f"{found} is below 0")
    return found


def _address(value: Any) -> Address:
    ADDRESS_TEXT.read(value)
    return parse_address(value)


def node_pairs(words: str, make: type[tuple[Any, ...]], most: int) -> Kind:
    """An array of (node, number): thousands, so columns are checked, and pairs only if something is wrong."""
    made = partial(tuple.__new__, make)

    def check(pair: Any) -> None:
        node, value = elements(pair, 2, 2)
        NODE.read(node)
        if unsigned(value) > most:
            _out_of_range(value, 0, most)

    def are_right(value: Sequence[Any]) -> bool:
        if not set(map(type, value)) <= {list, tuple, make} or set(map(len, value)) != {2}:
            return False
        nodes, numbers = zip(*value, strict=True)
        if set(map(type, nodes)) != {bytes} or set(map(type, numbers)) != {int}:
            return False
        return set(map(len, nodes)) == {ID_BYTES} and min(numbers) >= 0 and max(numbers) <= most

    def read(value: Any) -> tuple[Any, ...]:
        if elements(value, 0, MOST_NODES) and not are_right(value):
            for pair in value:
                check(pair)
        return tuple(map(made, value))

    return Kind(f"array of {words}, at most {MOST_NODES:,}", read, each=Kind(words, check))


NODE: Final = octets(ID_BYTES, ID_BYTES)
ID: Final = octets(ID_BYTES, ID_BYTES)
NAME: Final = SHORT_TEXT
DESTINATION: Final = text(2 * MOST_NAME + 1, 1)
"""Also of a definer and its group."""
REPLY_TO: Final = text(2 * MOST_NAME + 1)
SENTENCE: Final = text(1_024)
EPOCH: Final = whole(0, (1 << 32) - 1)
COUNT: Final = whole(0, (1 << 63) - 1)
TIME_US: Final = whole(0, (1 << 63) - 1, "µs since 1970")
SHARE: Final = Kind("0 to 1", share, float)
SCORE: Final = Kind("number, 0 or more", positive, float)
ADDRESS: Final = Kind("host:port", _address, format_address)
ADDRESSES: Final = listed(ADDRESS, 0, MOST_GATEWAYS)
GROUPS: Final = listed(NAME, 0, MOST_GROUPS)
