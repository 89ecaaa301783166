"""Messages of networks with ``encoding=contextml``: subscriptions, notifications and advertisements are texts with one
``ctxSubscr``, ``ctxEl`` or ``ctxAdv`` each; all else stays MessagePack (seed 001, details, section 1).

Elements are nested at most eight deep, so an expression has at most six levels there, of eight in MessagePack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

from overlay.core.errors import shown
from overlay.messages.errors import BadMessage, Reason, refuse
from overlay.messages.kinds import Kind
from overlay.systems.federation.contextml.elements import (
    Flag,
    read_announcement,
    read_context,
    read_subscription,
    write_announcement,
    write_context,
    write_subscription,
)
from overlay.systems.federation.contextml.xml import InvalidContextML, parse, within_limits
from overlay.systems.federation.wire.codec import Codec
from overlay.systems.federation.wire.composites import ADVERTISEMENT, SUBSCRIPTION
from overlay.systems.federation.wire.layouts import Values
from overlay.systems.federation.wire.notes import NOTIFICATION
from overlay.systems.federation.wire.values import Advertisement


def _kind(tag: str, native: Kind, read_element: Callable[[Element], Any], write_value: Callable[[Any], str]) -> Kind:
    """``native`` is that of messages in MessagePack, whose limits apply."""

    def read(value: Any) -> Any:
        try:
            element = parse(_text(value))
            if element.tag != tag:
                refuse(Reason.TYPE, f"the element is {shown(element.tag)} instead of {tag}")
            return read_element(element)
        except InvalidContextML as error:
            raise BadMessage(Reason.ENCODING, error.sentence) from None

    def write(value: Any) -> str:
        native.read(native.write(value))
        try:
            return within_limits(write_value(value))
        except InvalidContextML as error:
            raise BadMessage(Reason.ENCODING, error.sentence) from None

    return Kind(f"text with {tag}", read, write)


def _text(value: Any) -> str:
    if type(value) is not str:
        refuse(Reason.TYPE, f"{shown(value)} is no text")
    return value


def _registered(element: Element) -> Advertisement:
    announcement = read_announcement(element)
    if announcement.flag is not Flag.REGISTER:
        refuse(Reason.RANGE, f"an advertisement in a message has the flag register, not {announcement.flag.value}")
    return announcement.advertisement


_VALUES = Values(
    _kind("ctxSubscr", SUBSCRIPTION, read_subscription, write_subscription),
    _kind("ctxEl", NOTIFICATION, read_context, write_context),
    _kind("ctxAdv", ADVERTISEMENT, _registered, write_announcement),
)
_WRITTEN = Kind("text", _text)

CONTEXTML = Codec(_VALUES, Values(_WRITTEN, _WRITTEN, _WRITTEN, lambda *fields: fields))
"""The codec of such networks."""
