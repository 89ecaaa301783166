"""What DATA carries, as text. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgpack

from overlay.core.addresses import format_address
from overlay.core.errors import WireError
from overlay.systems.contextnet.records.codec import read_message
from overlay.systems.contextnet.transport.controls import read_gateway_list, read_hand_over
from overlay.systems.contextnet.transport.packets import Kind


def text_of(kind: int, data: bytes) -> str:
    """JSON of a message that has one part; its bytes as hexadecimal digits. Empty if it cannot be read."""
    try:
        found = _READERS[Kind(kind)](data)
    except (WireError, ValueError, TypeError, KeyError, RecursionError, msgpack.UnpackException):
        return ""
    return json.dumps(_plain(found), indent=2, ensure_ascii=False)


def _message(data: bytes) -> Mapping[str, Any]:
    found = read_message(data)
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


def _gateways(data: bytes) -> Mapping[str, Any]:
    found = read_gateway_list(data)
    some = [{"address": format_address(one.address), "weight": one.weight} for one in found.gateways]
    return {"version": found.version, "gateways": some}


def _hand_over(data: bytes) -> Mapping[str, Any]:
    found = read_hand_over(data)
    return {"round": found.round, "targets": [format_address(one) for one in found.targets]}


def _context(data: bytes) -> Any:
    return msgpack.unpackb(data)


_READERS = {
    Kind.MESSAGE: _message,
    Kind.GATEWAY_LIST: _gateways,
    Kind.HAND_OVER: _hand_over,
    Kind.CONTEXT: _context,
}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
