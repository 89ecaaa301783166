"""Addresses that webhooks may reach (protection against SSRF). Pure.

A webhook makes this machine send requests to an address chosen by a user, and other services may trust this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

EMBEDDING = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96")))
COMPATIBLE = IPv6Network("::/96")
"""Further IPv6 prefixes with an IPv4 address in the last four bytes: NAT64, translated and compatible ones (RFC
6052, 8215, 7915, 4291).
"""

UNICAST = IPv6Network("2000::/3")
"""The only IPv6 range assigned to hosts of the internet; unassigned addresses are not public."""
NOT_PUBLIC = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24"))), (IPv6Network("3fff::/20"),)
"""IANA special-purpose ranges (RFC 6890) that ``is_global`` of some supported Python versions reports wrongly."""


def refusal(address: str, allowed: Sequence[Network]) -> str:
    """The reason why a numeric address is refused, as the end of a sentence; empty if allowed.

    Link-local addresses, and those that do not denote a single host, are always refused; other non-public ones unless
    ``allowed`` contains them. An IPv6 address that embeds an IPv4 address is checked as the latter.
    """
    found = meant(ip_address(address.partition("%")[0]))
    if found.is_link_local or found.is_multicast or found.is_unspecified:
        return f"{found} is link-local, multicast or unspecified, where webhooks are never sent"
    if _is_public(found) or any(found in network for network in allowed):
        return ""
    return f"{found} is a private address; add its network to WAXWING_WEBHOOKS to allow it"


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in NOT_PUBLIC[0])
    return address.is_global and address in UNICAST and not any(address in network for network in NOT_PUBLIC[1])


def meant(address: Address) -> Address:
    """The IPv4 address embedded in an IPv6 address (mapped, translated, NAT64, 6to4 or Teredo), otherwise the
    address itself.
    """
    if isinstance(address, IPv4Address):
        return address
    if (inner := address.ipv4_mapped or address.sixtofour) is not None:
        return inner
    if address.teredo is not None:
        return address.teredo[1]
    is_short = address in COMPATIBLE and int(address) > 1  # :: and ::1 are not embedded addresses
    return IPv4Address(int(address) & 0xFFFFFFFF) if is_short or any(address in one for one in EMBEDDING) else address
