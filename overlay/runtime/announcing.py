"""Announces brokers by multicast DNS on one interface, and finds announced ones (DNS-SD, RFC 6762 and 6763).

Counterpart: ``overlay.core.announcements`` has what is announced. ``zeroconf`` runs threads of its own.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Mapping
from ipaddress import ip_address

from zeroconf import InterfaceChoice, IPVersion, ServiceBrowser, ServiceInfo, ServiceListener, Zeroconf

from overlay.core.announcements import SERVICE, Announcement, read
from overlay.core.errors import InvalidSetting

LIVES_S = 60
"""How long others remember what is announced, if the announcer ends without a word."""
ASKED_MS = 1500
MOST_FOUND = 10_000
"""Instances that a browser remembers."""


def _open(interface: str) -> Zeroconf:
    """``interface`` is its IPv4 address; empty: all. Raises ``InvalidSetting``."""
    try:
        chosen = [str(ip_address(interface))] if interface else InterfaceChoice.All
        return Zeroconf(interfaces=chosen, ip_version=IPVersion.V4Only)
    except (OSError, ValueError) as error:
        raise InvalidSetting(
            "interface", f"cannot use multicast DNS on {interface or 'any interface'}: {error}"
        ) from None


class Announcer:
    """What is announced on one interface. ``close`` it, so that others forget it at once."""

    def __init__(self, interface: str) -> None:
        """Raises ``InvalidSetting``."""
        self._zeroconf = _open(interface)
        self._shown: dict[Announcement, ServiceInfo] = {}

    @property
    def shown(self) -> frozenset[Announcement]:
        return frozenset(self._shown)

    def show(self, wanted: Iterable[Announcement]) -> None:
        """Announce these, and withdraw all others."""
        wanted = set(wanted)
        for one in [one for one in self._shown if one not in wanted]:
            self._zeroconf.unregister_service(self._shown.pop(one))
        for one in wanted - self._shown.keys():
            info = _info(one)
            # Names contain a random id, so asking whether another one has them would only take time.
            self._zeroconf.register_service(info, cooperating_responders=True)
            self._shown[one] = info

    def close(self) -> None:
        """Withdraw everything."""
        self._shown.clear()
        self._zeroconf.close()  # which says goodbye for all that is registered


class Browser(ServiceListener):
    """The announced brokers of one interface, or of all. ``close`` it."""

    def __init__(self, interface: str = "") -> None:
        """Raises ``InvalidSetting``."""
        self._lock = threading.Lock()
        self._found: dict[str, Announcement] = {}
        self._zeroconf = _open(interface)
        self._browser = ServiceBrowser(self._zeroconf, SERVICE, listener=self)

    @property
    def found(self) -> list[Announcement]:
        """In the order of networks and indices."""
        with self._lock:
            return sorted(self._found.values(), key=lambda one: (one.name, one.network, one.index, one.address))

    def add_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        info = zc.get_service_info(type_, name, ASKED_MS)
        one = None if info is None else _announcement(info)
        if one is not None:
            with self._lock:
                if name in self._found or len(self._found) < MOST_FOUND:
                    self._found[name] = one

    def update_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.add_service(zc, type_, name)

    def remove_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        with self._lock:
            self._found.pop(name, None)

    def close(self) -> None:
        self._browser.cancel()
        self._zeroconf.close()


def _info(one: Announcement) -> ServiceInfo:
    host, port = one.address
    return ServiceInfo(
        SERVICE,
        one.instance,
        port=port,
        addresses=[socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)],
        properties=dict(one.text),
        server=one.host,
        host_ttl=LIVES_S,
        other_ttl=LIVES_S,
    )


def _announcement(info: ServiceInfo) -> Announcement | None:
    hosts, text = info.parsed_addresses(), info.decoded_properties
    if not hosts or not info.port:
        return None
    known: Mapping[str, str | None] = text
    return read(known, (hosts[0], info.port))
