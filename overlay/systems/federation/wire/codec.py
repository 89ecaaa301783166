"""Reads and writes messages as ``table`` says. ``parse`` is total: any bytes give a message or ``BadMessage``.

A message is a MessagePack array of its code and its fields. PUBLISH, FORWARD and NOTIFY, which every notification
needs, are mostly written and read on a path of their own; it gives the same results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, final

from overlay.messages.codec import Codec as Described
from overlay.messages.codec import Coder, pack
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import MOST, boolean, short, unsigned
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.broker_table import MAX_PATH
from overlay.systems.federation.wire.composites import read_sid
from overlay.systems.federation.wire.layouts import Values
from overlay.systems.federation.wire.notes import MAX_BYTES, NOTIFICATION, encoded, read_notification
from overlay.systems.federation.wire.table import layouts
from overlay.systems.federation.wire.values import Notification, Publication, SubscriptionId

_PUBLISH: Final = 5
_NOTIFY: Final = 6
_FORWARD: Final = 15
_SIZE_OF_PUBLISH: Final = 3
_SIZE_OF_NOTIFY: Final = 5
_SIZE_OF_FORWARD: Final = 5
"""Codes, and elements with the code."""
_FORWARD_HEAD: Final = b"\x95\x0f"
_NOTIFY_HEAD: Final = b"\x95\x06"
_PUBLISH_HEAD: Final = b"\x93\x05"
_PUBLISH_MIDDLE: Final = b"\x91\x92"
_EMPTY: Final = b"\x90"
"""What is before and after notifications: the array and its code, one publication of two elements, an empty array."""
_SMALL: Final = [bytes((number,)) for number in range(128)]
"""Integers of one byte, as nearly all numbers of links and of requests without an answer are."""
_BROKERS: Final = b"\x96\x12"
"""The beginning of BROKERS, which goes to all brokers alike: those of one process, in simulations, share what it says.
1,000 brokers would need 1 GB for it, and 16 s to read it."""
_SHARED: Final = 8
"""Messages BROKERS that are remembered."""


@final
class Codec(Described):
    """The messages of a network, in one encoding of its values."""

    def __init__(self, values: Values | None = None, checks: Values | None = None) -> None:
        """``checks``: kinds whose ``read`` accepts what those of ``values`` write; reading it again could take long."""
        values = values or Values()
        checked = layouts(checks or values)
        coders = [Coder(layout, check) for layout, check in zip(layouts(values), checked, strict=True)]
        super().__init__(coders)
        self._has_notifications = values.notification is NOTIFICATION
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
        if self._has_notifications:
            try:
                data = _written_usual(message)
            except BadMessage as error:
                super().encode(message)  # it says which field is wrong, but knows no length of notifications
                coder = self._by_class[type(message)]
                raise coder.located(error, "a notification", (getattr(message, "req", 0),)) from None
            if data and len(data) <= MOST:
                return data
        return super().encode(message)

    def _check_sizes(self, message: m.Message, coder: Coder) -> None:
        """Only such long messages can have notifications that are too long."""
        try:
            for notification in notifications_of(message):
                encoded(notification)
        except BadMessage as error:
            raise coder.located(error, "a notification", (getattr(message, "req", 0),)) from None


def _read_usual(array: list[Any]) -> m.Message | None:
    """PUBLISH of one notification and FORWARD, without ids of subscriptions and path, as most are, and NOTIFY. ``None``
    for all else, which the layouts read; they say what is wrong."""
    code, size = array[0], len(array)
    try:
        if code == _FORWARD and size == _SIZE_OF_FORWARD and _is_empty(array[3]) and _is_empty(array[4]):
            return m.Forward(read_notification(array[1]), unsigned(array[2]), (), ())
        if code == _PUBLISH and size == _SIZE_OF_PUBLISH and type(array[2]) is list and len(array[2]) == 1:
            one = array[2][0]
            if type(one) is list and len(one) == 2 and _is_empty(one[1]):
                return m.Publish(unsigned(array[1]), (Publication(read_notification(one[0]), ()),))
        if code == _NOTIFY and size == _SIZE_OF_NOTIFY and type(array[2]) is list:
            sids = tuple([read_sid(sid) for sid in array[2]])
            return m.Notify(read_notification(array[1]), sids, boolean(array[3]), unsigned(array[4]))
    except BadMessage:
        pass
    return None


def _is_empty(value: Any) -> bool:
    return type(value) is list and not value


def _written_usual(message: m.Message) -> bytes:
    """PUBLISH of one notification, FORWARD and NOTIFY, with what was written of a notification before. Empty for all
    else, which the layouts write. Raises ``BadMessage``."""
    if isinstance(message, m.Forward):
        hops, path, ended = _small(message.hops), _path(message.path), _ids(message.ended)
        if hops and path and ended:
            return _FORWARD_HEAD + encoded(message.notification) + hops + path + ended
    elif isinstance(message, m.Notify):
        hops, is_cached, satisfied = _small(message.hops), _boolean(message.is_cached), _ids(message.satisfied)
        if hops and is_cached and satisfied:
            return _NOTIFY_HEAD + encoded(message.notification) + satisfied + is_cached + hops
    elif isinstance(message, m.Publish) and len(message.publications) == 1:
        req, one = _small(message.req), message.publications[0]
        satisfied = _ids(one.satisfied)
        if req and satisfied:
            return _PUBLISH_HEAD + req + _PUBLISH_MIDDLE + encoded(one.notification) + satisfied
    return b""


# Of these, each gives what is written of a field, and nothing for what the layouts are to look at.


def _small(number: Any) -> bytes:
    return _SMALL[number] if type(number) is int and 0 <= number < len(_SMALL) else b""


def _boolean(value: Any) -> bytes:
    return b"\xc3" if value is True else b"\xc2" if value is False else b""


def _path(path: tuple[str, ...]) -> bytes:
    if not path:
        return _EMPTY
    for name in path:
        short(name)
    written: bytes = pack(path) if len(path) <= MAX_PATH else b""
    return written


def _ids(sids: tuple[SubscriptionId, ...]) -> bytes:
    if not sids:
        return _EMPTY
    for sid in sids:
        short(sid[0])
        unsigned(sid[1])
    written: bytes = pack(sids)
    return written


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


CODEC: Final = Codec()
"""With all values in MessagePack."""
parse = CODEC.parse
encode = CODEC.encode
