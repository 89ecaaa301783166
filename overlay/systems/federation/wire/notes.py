"""Notifications: the limits of their data, and their MessagePack.

A broker reads each notification that it routes, since it evaluates subscriptions, and writes it once, whatever the
number of neighbours and clients that get it. Cutting its bytes out of the message that brought it would save the
writing, but finding where they end takes longer (0.7 µs against 0.3 µs for one text of 400 bytes; equal for 20 values).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final

from overlay.core.errors import shown
from overlay.messages.codec import pack
from overlay.messages.errors import Reason, refuse
from overlay.messages.kinds import SHORT_TEXT, TIME, Kind, U, byte_length, elements, short, unsigned
from overlay.systems.federation.language.tree import is_in_range
from overlay.systems.federation.wire.values import Notification, NotificationId

_new_tuple: Final[Any] = tuple.__new__

MAX_DEPTH: Final = 4
"""Nesting of a value; a text or number is one level."""
MAX_VALUES: Final = 256
"""In a notification, those inside structures and arrays included."""
MAX_TEXT_BYTES: Final = 1_024
"""Of a value that is text."""
MAX_BYTES: Final = 60_000
"""Of a notification's MessagePack."""


def read_notification(value: Any) -> Notification:
    """From the array in a message. Raises ``BadMessage``."""
    array = _checked(value)
    nid = array[0]
    id: NotificationId = _new_tuple(NotificationId, nid)  # without a call of Python code
    notification = Notification(id, array[1], array[2], array[3], array[4], array[5], array[6])
    notification.encoded = b""
    return notification


def _checked(value: Any) -> list[Any]:
    """The elements of a notification. Raises ``BadMessage``."""
    array = _elements(value, 7)
    nid = _elements(array[0], 2)
    check_data(array[6])
    short(nid[0])
    unsigned(nid[1])
    short(array[1])
    short(array[2])
    short(array[3])
    unsigned(array[4])
    unsigned(array[5])
    return array


def _elements(value: Any, count: int) -> list[Any]:
    """Those of an array: mostly itself."""
    return value if type(value) is list and len(value) == count else list(elements(value, count, count))


def _read_id(value: Any) -> NotificationId:
    """For tools that show values; ``read_notification`` has it in line."""
    provider, number = elements(value, 2, 2)
    return NotificationId(short(provider), unsigned(number))


def written_notification(one: Notification) -> Sequence[Any]:
    """As the array in a message."""
    return (one.id, one.entity_type, one.entity_id, one.scope, one.timestamp, one.expires, one.data)


def encoded(notification: Notification) -> bytes:
    """Its MessagePack, checked and written at most once. Raises ``BadMessage``."""
    known = notification.encoded
    if known:
        return known
    array = written_notification(notification)
    if known is None:
        _checked(array)
    data: bytes = pack(array)
    if len(data) > MAX_BYTES:
        refuse(Reason.RANGE, f"a notification has {len(data):,} bytes, more than {MAX_BYTES:,}")
    notification.encoded = data
    return data


def check_data(data: Any) -> None:
    """Raise ``BadMessage`` unless these are the data of a notification."""
    if type(data) is not dict:
        refuse(Reason.TYPE, f"{shown(data)} is no structure")
    values: dict[Any, Any] = data
    if len(values) > MAX_VALUES:
        _refuse_number()
    nested = []
    for name, value in values.items():
        short(name)
        kind = type(value)
        if kind is dict or kind is list:
            nested.append(value)
        else:
            _check_scalar(kind, value)
    if nested:
        _check_nested(nested, len(values))


def _check_scalar(kind: type, value: Any) -> None:
    if kind is str:
        if len(value) > MAX_TEXT_BYTES or (not value.isascii() and byte_length(value) > MAX_TEXT_BYTES):
            refuse(Reason.RANGE, f"{shown(value)} has more than {MAX_TEXT_BYTES:,} bytes")
    elif kind is float:
        if not isfinite(value):
            refuse(Reason.RANGE, f"{value} is not finite")
    elif kind is int:
        if not is_in_range(value):
            refuse(Reason.RANGE, "an integer has more than 64 bits")
    elif kind is not bool:
        refuse(Reason.TYPE, f"{shown(value)} is no value; text, numbers, booleans, structures and arrays are")


def _check_nested(layer: list[Any], values: int) -> None:
    """Level by level: ``layer`` are the structures and arrays at the first, and ``values`` all values so far."""
    for _ in range(MAX_DEPTH - 1):
        inner: list[Any] = []
        for container in layer:
            values += len(container)
            if values > MAX_VALUES:
                _refuse_number()
            if type(container) is dict:
                for name in container:
                    short(name)
                inner.extend(container.values())
            else:
                inner.extend(container)
        layer = [one for one in inner if type(one) is dict or type(one) is list]
        for one in inner:
            if type(one) is not dict and type(one) is not list:
                _check_scalar(type(one), one)
    if any(layer):
        refuse(Reason.RANGE, f"a value is nested more than {MAX_DEPTH} deep")


def _refuse_number() -> None:
    refuse(Reason.RANGE, f"a notification has more than {MAX_VALUES} values")


DATA = Kind("structure", check_data)
NOTIFICATION_ID = Kind("*nid*", _read_id, parts=(("provider", SHORT_TEXT), ("number", U)))
NOTIFICATION = Kind(
    "*note*",
    read_notification,
    written_notification,
    (
        ("id", NOTIFICATION_ID),
        ("entity_type", SHORT_TEXT),
        ("entity_id", SHORT_TEXT),
        ("scope", SHORT_TEXT),
        ("timestamp", TIME),
        ("expires", TIME),
        ("data", DATA),
    ),
)
