"""Which addresses webhooks may reach. Pure.

Whoever sets up a webhook has this machine post to where they say, which is trusted by much of what it can reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

EMBEDDING = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96")))
COMPATIBLE = IPv6Network("::/96")
"""Of IPv6 addresses that hold one of IPv4 in their last four bytes, more kinds: NAT64, translated and compatible ones
(RFC 6052, 8215, 7915, 4291)."""

UNICAST = IPv6Network("2000::/3")
"""The only part of IPv6 that is given to hosts of the internet; what is not given to anybody is not public."""
NOT_PUBLIC = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24"))), (IPv6Network("3fff::/20"),)
"""IANA's special-purpose registries (RFC 6890) where ``is_global`` of some supported Python still says otherwise."""


def refusal(address: str, allowed: Sequence[Network]) -> str:
    """Why nothing is sent to this numeric address, as the end of a sentence; empty where it may be.

    Link-local addresses never may, nor those of no single host; others that are not of the public internet where one of
    the networks ``allowed`` holds them. An address in IPv6 that stands for one in IPv4 is judged as that.
    """
    found = meant(ip_address(address.partition("%")[0]))
    if found.is_link_local or found.is_multicast or found.is_unspecified:
        return f"{found} is link-local, multicast or unspecified, where webhooks are never sent"
    if _is_public(found) or any(found in network for network in allowed):
        return ""
    return f"{found} is a private address; WAXWING_WEBHOOKS names the private networks where webhooks may be sent"


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in NOT_PUBLIC[0])
    return address.is_global and address in UNICAST and not any(address in network for network in NOT_PUBLIC[1])


def meant(address: Address) -> Address:
    """The address in IPv4 that one in IPv6 stands for: mapped, translated, by NAT64, 6to4 or Teredo; else itself."""
    if isinstance(address, IPv4Address):
        return address
    if (inner := address.ipv4_mapped or address.sixtofour) is not None:
        return inner
    if address.teredo is not None:
        return address.teredo[1]
    is_short = address in COMPATIBLE and int(address) > 1  # :: and ::1 are themselves
    return IPv4Address(int(address) & 0xFFFFFFFF) if is_short or any(address in one for one in EMBEDDING) else address
