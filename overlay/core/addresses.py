"""Addresses: ``(host, port)`` with a numeric host and no brackets; as one field ``host:port``, IPv6 ``[host]:port``.

Numeric hosts keep name resolution, which blocks and can be spoofed, out of the cores.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from overlay.core.errors import InvalidSetting, WireError

Address = tuple[str, int]
Network = IPv4Network | IPv6Network


def parse_port(text: str) -> int:
    """1 to 65535, decimal without sign or leading zero. Raises ``WireError``."""
    if not (text.isascii() and text.isdigit()) or len(text) > 5 or text[0] == "0" or int(text) > 65535:
        raise WireError(f"port {text[:20]!r} is not a number from 1 to 65535")
    return int(text)


@lru_cache(maxsize=4096)  # every acknowledgement carries an address, mostly the same few
def parse_host(text: str) -> str:
    """A numeric IPv4 or IPv6 host without brackets or zone, in its canonical spelling. Raises ``WireError``."""
    try:
        host = ip_address(text)
    except ValueError:
        raise WireError(f"host {text[:60]!r} is not a numeric address") from None
    if "%" in text:
        raise WireError(f"host {text[:60]!r} carries a zone")
    return str(host)


def parse_address(text: str) -> Address:
    """``host:port`` or ``[host]:port``. Raises ``WireError``."""
    host, colon, port = text.rpartition(":")
    if not colon:
        raise WireError(f"address {text[:60]!r} is not host:port")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if ":" not in host:
            raise WireError(f"address {text[:60]!r} has brackets around a host that is not IPv6")
    elif ":" in host:
        raise WireError(f"address {text[:60]!r} needs brackets around its IPv6 host")
    return parse_host(host), parse_port(port)


def format_address(address: Address) -> str:
    """The one-field form of an address."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_networks(text: str, field: str) -> tuple[Network, ...]:
    """A comma-separated list of CIDR networks, such as ``127.0.0.0/8,::1/128``. Raises ``InvalidSetting``."""
    try:
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InvalidSetting(field, f"{error}; a list of networks looks like 127.0.0.0/8,::1/128") from None


def is_loopback(host: str) -> bool:
    """Whether a numeric host is reachable from this machine only."""
    return ip_address(host).is_loopback


@lru_cache(maxsize=4096)
def block_of(host: str) -> str:
    """The network in which the owner of a host can probably choose other addresses: its /24, for IPv6 its /64."""
    return str(ip_network(f"{host}/{64 if ':' in host else 24}", strict=False))
