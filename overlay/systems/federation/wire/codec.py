"""Reads and writes messages as ``table`` says. ``parse`` is total: any bytes give a message or ``BadMessage``.

A message is a MessagePack array of its code and its fields. NOTIFY and FORWARD, which every notification needs several
times, are written on a path of their own, and FORWARD and PUBLISH mostly read on one; they give the same results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

import msgpack

from overlay.core.errors import shown
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.errors import BadMessage, Reason, refuse
from overlay.systems.federation.wire.kinds import MOST, Read, elements, unsigned
from overlay.systems.federation.wire.layouts import REQ, Layout, Values
from overlay.systems.federation.wire.notes import MAX_BYTES, NOTIFICATION, encoded, pack, read_notification
from overlay.systems.federation.wire.table import layouts
from overlay.systems.federation.wire.values import Notification, Publication

_UNREADABLE = (ValueError, TypeError, msgpack.UnpackException)
"""What MessagePack raises for bytes that are none, for text that is no UTF-8, and for keys that are no text."""
_ROUTED = {m.Notify: b"\x95\x06", m.Forward: b"\x95\x0f"}
"""The beginnings of messages that consist of a notification and three other fields."""
_TAILS = [bytes((hops, 0x90, 0x90)) for hops in range(128)]
"""What follows the notification in a FORWARD without path and ended queries, as most are: hops and two empty arrays."""
_FORWARD: Final = 15
_SIZE_OF_FORWARD: Final = 5
_PUBLISH: Final = 5
_SIZE_OF_PUBLISH: Final = 3
"""Codes, and elements with the code."""
_BROKERS = b"\x96\x12"
"""The beginning of BROKERS, which goes to all brokers alike: those of one process, in simulations, share what it says.
1,000 brokers would need 1 GB for it, and 16 s to read it."""
_SHARED = 8
"""Messages BROKERS that are remembered."""


class Codec:
    """The messages of a network, in one encoding of its values."""

    def __init__(self, values: Values | None = None, checks: Values | None = None) -> None:
        """``checks``: kinds whose ``read`` accepts what those of ``values`` write; reading it again could take long."""
        values = values or Values()
        self.layouts = layouts(values)
        checked = layouts(checks or values)
        self._coders = {layout.code: _Coder(layout, check) for layout, check in zip(self.layouts, checked, strict=True)}
        self._by_class = {coder.layout.message: coder for coder in self._coders.values()}
        self._has_notifications = values.notification is NOTIFICATION
        self._routed = _ROUTED if self._has_notifications else {}
        self._parse_shared = lru_cache(_SHARED)(self._parse)

    def parse(self, data: bytes) -> m.Message:
        """Raises ``BadMessage`` and nothing else."""
        return self._parse_shared(data) if data.startswith(_BROKERS) else self._parse(data)

    def _parse(self, data: bytes) -> m.Message:
        if len(data) > MOST:
            refuse(Reason.SIZE, f"{len(data):,} bytes are more than a message can have")
        try:
            array = msgpack.unpackb(data)
        except _UNREADABLE as error:
            raise BadMessage(Reason.ENCODING, f"no MessagePack: {error}") from None
        if type(array) is not list or not array:
            refuse(Reason.KIND, "a message is an array that begins with its kind")
        code = array[0]
        coder = self._coders.get(code) if type(code) is int else None
        if coder is None:
            refuse(Reason.KIND, f"{shown(code)} is not the kind of a message")
        message = _read_usual(array) if self._has_notifications else None
        if message is None:
            message = coder.read(array)
        if len(data) > MAX_BYTES and self._has_notifications:
            self._check_sizes(message, coder)
        return message

    def encode(self, message: m.Message) -> bytes:
        """Raises ``BadMessage`` if a value exceeds its limits, or the message does."""
        coder = self._by_class[type(message)]
        head = self._routed.get(type(message))
        data: bytes = coder.routed(head, message) if head else pack(coder.write(message))
        if len(data) > MOST:
            raise BadMessage(Reason.SIZE, f"{len(data):,} bytes are more than a message can have", coder.layout.code)
        return data

    def _check_sizes(self, message: m.Message, coder: _Coder) -> None:
        """Only such long messages can have notifications that are too long."""
        try:
            for notification in notifications_of(message):
                encoded(notification)
        except BadMessage as error:
            raise coder.located(error, message) from None


def _read_usual(array: Sequence[Any]) -> m.Message | None:
    """FORWARD and PUBLISH of one notification without ids of subscriptions, as most are. ``None`` for all else, which
    the layouts read; they say what is wrong."""
    code, size = array[0], len(array)
    try:
        if code == _FORWARD and size == _SIZE_OF_FORWARD and array[3] == [] and array[4] == []:
            return m.Forward(read_notification(array[1]), unsigned(array[2]), (), ())
        if code == _PUBLISH and size == _SIZE_OF_PUBLISH and type(array[2]) is list and len(array[2]) == 1:
            one = array[2][0]
            if type(one) is list and one[1:] == [[]]:
                return m.Publish(unsigned(array[1]), (Publication(read_notification(one[0]), ()),))
    except BadMessage:
        pass
    return None


def notifications_of(message: m.Message) -> Sequence[Notification]:
    """All that it has."""
    match message:
        case m.Notify() | m.Forward():
            return (message.notification,)
        case m.Publish():
            return [publication.notification for publication in message.publications]
        case m.Answer():
            return message.notifications
    return ()


class _Coder:
    """Parser and encoder of one message."""

    def __init__(self, layout: Layout, check: Layout) -> None:
        self.layout = layout
        self._reads = [field.kind.read for field in layout.fields]
        self._checks = [field.kind.read for field in check.fields]
        self._count = len(layout.fields)
        self._kept = [bool(field.name) for field in layout.fields]
        self._has_padding = not all(self._kept)
        self._writes = [(field.name, field.kind.write) for field in layout.fields]
        self._others = self._reads[1:]
        self._has_req = layout.fields[0] is REQ
        self._attributes = attrgetter(*(field.name for field in layout.fields if field.name))

    def read(self, array: Sequence[Any]) -> m.Message:
        """From all elements of a message, its code included."""
        values = self._values(array[1:], self._reads)
        if self._has_padding:
            values = [value for value, is_kept in zip(values, self._kept, strict=True) if is_kept]
        message: m.Message = self.layout.message(*values)
        return message

    def _values(self, array: Sequence[Any], reads: Sequence[Read]) -> list[Any]:
        """The fields as ``reads`` give them."""
        try:
            if len(array) != self._count:
                elements(array, self._count, self._count)
            return [read(value) for read, value in zip(reads, array)]  # noqa: B905 (equal lengths; a hot path)
        except BadMessage as error:
            raise self._error(error, self._wrong_field(array, reads), array) from None

    def _wrong_field(self, array: Sequence[Any], reads: Sequence[Read]) -> str:
        """The name of the first one that cannot be read."""
        for field, read, value in zip(self.layout.fields, reads, array, strict=False):
            try:
                read(value)
            except BadMessage:
                return field.name or "padding"
        return "its fields"

    def write(self, message: m.Message) -> list[Any]:
        """All elements of the message, which can be read back."""
        try:
            fields = [write(getattr(message, name, None)) for name, write in self._writes]
        except BadMessage as error:
            raise self._error(error, "its fields", ()) from None
        self._values(fields, self._checks)
        return [self.layout.code, *fields]

    def routed(self, head: bytes, message: Any) -> bytes:
        """A notification and three other fields, after ``head``."""
        try:
            notification = encoded(message.notification)
            if type(message) is m.Forward and message.path == () and message.ended == ():
                hops: Any = message.hops
                if type(hops) is int and 0 <= hops < len(_TAILS):
                    return head + notification + _TAILS[hops]
            _, *fields = self._attributes(message)
            for read, field in zip(self._others, fields):  # noqa: B905 (a hot path)
                read(field)
        except BadMessage as error:
            raise self._error(error, "its fields", ()) from None
        others: bytes = pack(fields)
        return head + notification + others[1:]

    def located(self, error: BadMessage, message: Any) -> BadMessage:
        return self._error(error, "a notification", (getattr(message, "req", 0),))

    def _error(self, error: BadMessage, where: str, fields: Sequence[Any]) -> BadMessage:
        req = fields[0] if self._has_req and fields else 0
        is_known = type(req) is int and 0 <= req < 1 << 64
        sentence = f"{self.layout.name.upper()}, {where}: {error.sentence}"
        return BadMessage(error.reason, sentence, self.layout.code, req if is_known else 0)


CODEC = Codec()
"""With all values in MessagePack."""
parse = CODEC.parse
encode = CODEC.encode
