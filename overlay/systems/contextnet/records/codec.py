"""The bytes of records: MessagePack maps with ``v`` = 1. Any bytes give a record or ``BadRecord``."""

from __future__ import annotations

from typing import Any, Final

import msgpack

from overlay.core.errors import WireError, shown
from overlay.messages.errors import BadMessage, Reason, refuse
from overlay.systems.contextnet.records import names
from overlay.systems.contextnet.records.kinds import MOST_REJECTED
from overlay.systems.contextnet.records.maps import MapCoder
from overlay.systems.contextnet.records.records import Message, Rejected
from overlay.systems.contextnet.records.table import LAYOUTS, MESSAGE_CODER

VERSION: Final = 1
MOST_RECORD: Final = 262_144
"""Bytes. The longest is a full part of a connection report."""

_pack: Final = msgpack.Packer(autoreset=True).pack
_UNREADABLE = (ValueError, TypeError, msgpack.UnpackException)
"""What MessagePack raises for bytes that are none, for text that is no UTF-8, and for keys that are no text."""

_CODERS: Final = [MapCoder(layout) for layout in LAYOUTS]
_BY_CLASS: Final = {coder.layout.record: coder for coder in (MESSAGE_CODER, *_CODERS)}
_BY_TOPIC: Final = {coder.layout.topic: coder for coder in _CODERS}
_BY_TOPIC[names.BROADCAST] = _BY_TOPIC[names.GROUPCAST]
_BY_TOPIC[names.MQTT_DOWN] = _BY_TOPIC[names.OUTBOUND]


class BadRecord(WireError):
    """``read`` and ``write`` raise nothing else for what is in a record."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence


def write(record: Any) -> bytes:
    """The bytes of a message or record, which can be read back. Raises ``BadRecord`` if a value exceeds its limits."""
    coder = _BY_CLASS[type(record)]
    try:
        found = coder.write(record)
        found["v"] = VERSION
        data: bytes = _pack(found)
        _sized(data)
    except BadMessage as error:
        raise BadRecord(error.reason, error.sentence) from None
    return data


def read(topic: str, data: bytes) -> Any:
    """The record of a topic; its class follows from the topic. Raises ``BadRecord``."""
    return _read(_of_topic(topic), data)


def read_message(data: bytes) -> Message:
    """A message alone, as in the transport. Raises ``BadRecord``."""
    found: Message = _read(MESSAGE_CODER, data)
    return found


def rejected(topic: str, reader: str, error: BadRecord, data: bytes) -> Rejected:
    """What is said of a record that cannot be read."""
    return Rejected(topic, reader, error.sentence, data[:MOST_REJECTED])


def _of_topic(topic: str) -> MapCoder:
    """Topics without an entry are those that nodes may publish to."""
    coder = _BY_TOPIC.get(topic)
    if coder is None:
        coder = _BY_TOPIC[names.OUTBOUND if names.is_gateway_topic(topic) else names.INBOUND]
    return coder


def _read(coder: MapCoder, data: bytes) -> Any:
    try:
        _sized(data)
        found = _unpacked(data)
        if type(found) is not dict:
            refuse(Reason.KIND, f"{shown(found)} is no map")
        version = found.get("v")
        if type(version) is not int or version != VERSION:
            refuse(Reason.KIND, f"version {shown(version)} of records is not known")
        return coder.read(found)
    except BadMessage as error:
        raise BadRecord(error.reason, error.sentence) from None


def _unpacked(data: bytes) -> Any:
    try:
        return msgpack.unpackb(data)
    except _UNREADABLE as error:
        refuse(Reason.ENCODING, f"no MessagePack: {error}")


def _sized(data: bytes) -> None:
    if len(data) > MOST_RECORD:
        refuse(Reason.SIZE, f"{len(data):,} bytes are more than a record can have")
