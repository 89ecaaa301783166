"""Reads and writes messages as ``table`` says. ``parse`` is total: any bytes give a message or ``BadMessage``.

A message is a MessagePack array of its code and its fields. NOTIFY and FORWARD, which every notification needs several
times, are written on a path of their own, and FORWARD and PUBLISH mostly read on one; they give the same results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, final

from overlay.messages.codec import Codec as Described
from overlay.messages.codec import Coder, pack
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import unsigned
from overlay.messages.layouts import Layout
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.layouts import Values
from overlay.systems.federation.wire.notes import MAX_BYTES, NOTIFICATION, encoded, read_notification
from overlay.systems.federation.wire.table import layouts
from overlay.systems.federation.wire.values import Notification, Publication

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


@final
class Codec(Described):
    """The messages of a network, in one encoding of its values."""

    def __init__(self, values: Values | None = None, checks: Values | None = None) -> None:
        """``checks``: kinds whose ``read`` accepts what those of ``values`` write; reading it again could take long."""
        values = values or Values()
        checked = layouts(checks or values)
        coders = [_Coder(layout, check) for layout, check in zip(layouts(values), checked, strict=True)]
        super().__init__(coders)
        self._has_notifications = values.notification is NOTIFICATION
        routed = _ROUTED if self._has_notifications else {}
        self._routed = {coder.layout.message: coder for coder in coders if coder.layout.message in routed}
        self._parse_shared = lru_cache(_SHARED)(self._parse)

    def parse(self, data: bytes) -> m.Message:
        """Raises ``BadMessage`` and nothing else."""
        return self._parse_shared(data) if data.startswith(_BROKERS) else self._parse(data)

    def _parse(self, data: bytes) -> m.Message:
        array = self._array(data)
        coder = self._coder(array)
        message = _read_usual(array) if self._has_notifications else None
        if message is None:
            message = coder.read(array)
        if len(data) > MAX_BYTES and self._has_notifications:
            self._check_sizes(message, coder)
        return message

    def encode(self, message: m.Message) -> bytes:
        """Raises ``BadMessage`` if a value exceeds its limits, or the message does."""
        coder = self._routed.get(type(message))
        if coder is None:
            return super().encode(message)
        return self._sized(coder.routed(_ROUTED[type(message)], message), coder)

    def _check_sizes(self, message: m.Message, coder: Coder) -> None:
        """Only such long messages can have notifications that are too long."""
        try:
            for notification in notifications_of(message):
                encoded(notification)
        except BadMessage as error:
            raise coder.located(error, "a notification", (getattr(message, "req", 0),)) from None


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


@final
class _Coder(Coder):
    """With a path of its own for messages that consist of a notification and three other fields."""

    def __init__(self, layout: Layout, check: Layout) -> None:
        super().__init__(layout, check)
        self._others = self._reads[1:]
        self._attributes = attrgetter(*(field.name for field in layout.fields if field.name))

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
            raise self.located(error, "its fields", ()) from None
        others: bytes = pack(fields)
        return head + notification + others[1:]


CODEC = Codec()
"""With all values in MessagePack."""
parse = CODEC.parse
encode = CODEC.encode
