"""Which addresses webhooks may reach. Pure.

Whoever sets up a webhook has this machine post to where they say, which is trusted by much of what it can reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
COMPATIBLE = IPv6Network("::/96")
"""Of IPv6 addresses that hold one of IPv4 in their last four bytes, two more kinds (RFC 6052, 8215, 4291)."""


def refusal(address: str, allowed: Sequence[Network]) -> str:
    """Why nothing is sent to this numeric address, as the end of a sentence; empty where it may be.

    Link-local addresses never may, nor those of no single host; others that are not of the public internet where one of
    the networks ``allowed`` holds them. An address in IPv6 that stands for one in IPv4 is judged as that.
    """
    found = meant(ip_address(address.partition("%")[0]))
    if found.is_link_local or found.is_multicast or found.is_unspecified:
        return f"{found} is link-local, multicast or unspecified, where webhooks are never sent"
    is_public = found.is_global and not getattr(found, "is_site_local", False)
    if is_public or any(found in network for network in allowed):
        return ""
    return f"{found} is a private address; WAXWING_WEBHOOKS names the private networks where webhooks may be sent"


def meant(address: Address) -> Address:
    """The address in IPv4 that one in IPv6 stands for: mapped, by NAT64, 6to4 or Teredo; else itself."""
    if isinstance(address, IPv4Address):
        return address
    if (inner := address.ipv4_mapped or address.sixtofour) is not None:
        return inner
    if address.teredo is not None:
        return address.teredo[1]
    is_short = address in COMPATIBLE and int(address) > 1  # :: and ::1 are themselves
    return IPv4Address(int(address) & 0xFFFFFFFF) if is_short or any(address in one for one in NAT64) else address
