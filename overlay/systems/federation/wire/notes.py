"""Notifications: the limits of their data, and their MessagePack.

A broker reads each notification that it routes, since it evaluates subscriptions, and writes it once, whatever the
number of neighbours and clients that get it. Cutting its bytes out of the message that brought it would save the
writing, but finding where they end takes longer (0.7 µs against 0.3 µs for one text of 400 bytes; equal for 20 values).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from overlay.core.errors import shown
from overlay.messages.codec import pack
from overlay.messages.errors import Reason, refuse
from overlay.messages.kinds import SHORT_TEXT, TIME, Kind, U, byte_length, elements, short, unsigned
from overlay.systems.federation.language.tree import is_in_range
from overlay.systems.federation.wire.values import Notification, NotificationId

MAX_DEPTH = 4
"""Nesting of a value; a text or number is one level."""
MAX_VALUES = 256
"""In a notification, those inside structures and arrays included."""
MAX_TEXT_BYTES = 1_024
"""Of a value that is text."""
MAX_BYTES = 60_000
"""Of a notification's MessagePack."""


def read_notification(value: Any) -> Notification:
    """From the array in a message. Raises ``BadMessage``."""
    nid, entity_type, entity_id, scope, timestamp, expires, data = elements(value, 7, 7)
    provider, number = elements(nid, 2, 2)
    check_data(data)
    notification = Notification(
        NotificationId(short(provider), unsigned(number)),
        short(entity_type),
        short(entity_id),
        short(scope),
        unsigned(timestamp),
        unsigned(expires),
        data,
    )
    _remember(notification, b"")
    return notification


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
        read_notification(array)
    data: bytes = pack(array)
    if len(data) > MAX_BYTES:
        refuse(Reason.RANGE, f"a notification has {len(data):,} bytes, more than {MAX_BYTES:,}")
    _remember(notification, data)
    return data


def _remember(notification: Notification, data: bytes) -> None:
    """Changes nothing that can be compared."""
    notification.encoded = data  # type: ignore[misc]  # frozen for type checkers only


def check_data(data: Any) -> None:
    """Raise ``BadMessage`` unless these are the data of a notification."""
    if type(data) is not dict:
        refuse(Reason.TYPE, f"{shown(data)} is no structure")
    if len(data) > MAX_VALUES:
        _refuse_number()
    nested = []
    for name, value in data.items():
        short(name)
        kind = type(value)
        if kind is dict or kind is list:
            nested.append(value)
        else:
            _check_scalar(kind, value)
    if nested:
        _check_nested(nested, len(data))


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
