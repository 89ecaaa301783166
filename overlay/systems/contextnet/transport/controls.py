"""What a gateway tells a node in DATA: the list of gateways, and a hand-over. ``read_*`` raise ``BadPacket``."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.systems.contextnet.transport.layouts import pack_address, read_address, read_addresses, refuse

_HEAD = Struct(">IB")


class Gateway(NamedTuple):
    address: Address
    weight: int
    """0 to 255: how likely a node tries it first."""


class GatewayList(NamedTuple):
    version: int
    gateways: tuple[Gateway, ...]


class HandOver(NamedTuple):
    round: int
    """Of the PoA manager."""
    targets: tuple[Address, ...]
    """To be tried in this order."""


def write_gateway_list(found: GatewayList) -> bytes:
    """Of at most 255 gateways."""
    entries = [pack_address(address) + bytes([weight]) for address, weight in found.gateways]
    return _HEAD.pack(found.version, len(entries)) + b"".join(entries)


def read_gateway_list(data: bytes) -> GatewayList:
    version, count = _head(data)
    at, gateways = _HEAD.size, []
    for _ in range(count):
        address, at = read_address(data, at, len(data) - 1)
        gateways.append(Gateway(address, data[at]))
        at += 1
    if at != len(data):
        refuse("body", f"{len(data) - at} bytes follow the list of gateways")
    return GatewayList(version, tuple(gateways))


def write_hand_over(found: HandOver) -> bytes:
    """Of at most 255 targets."""
    return _HEAD.pack(found.round, len(found.targets)) + b"".join(map(pack_address, found.targets))


def read_hand_over(data: bytes) -> HandOver:
    number, _ = _head(data)
    return HandOver(number, read_addresses(data, _HEAD.size - 1, len(data)))


def _head(data: bytes) -> tuple[int, int]:
    if len(data) < _HEAD.size:
        refuse("body", f"{len(data)} bytes are too few")
    number, count = _HEAD.unpack_from(data)
    return number, count
