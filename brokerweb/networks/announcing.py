"""Announces the running networks of this host by DNS-SD, if ``WAXWING_ANNOUNCE`` names an interface.

Runs as a thread of ``manage.py livefeed``, of which each host has one. Counterpart: ``overlay.runtime.announcing``.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_address

from django.db import close_old_connections

from brokerweb.networks.entrances import entrances
from brokerweb.networks.models import UP, Network
from brokerweb.networks.probes import FEW_SECONDS
from brokerweb.networks.probing import probe_file
from overlay.core.addresses import Address, is_loopback, parse_address
from overlay.core.announcements import Announcement
from overlay.core.errors import InvalidSetting
from overlay.runtime.announcing import Announcer

log = logging.getLogger(__name__)

ROUND_S = 2.0
MOST_BROKERS = 8
"""Announced per network, those with the lowest index: enough to find the way in, and few packets."""
MOST_NETWORKS = 50
AGAIN_S = 30.0
"""Before the interface is tried again."""


def announced(host: str, interface: str, now_s: float) -> Iterator[Announcement]:
    """What is to be announced: the brokers that answer, of the networks that run on ``host`` and can be reached through
    ``interface``."""
    for network in Network.objects.filter(host=host, state__in=UP).order_by("created")[:MOST_NETWORKS]:
        rows = [row for row in entrances(network) if row.get("state") == "up" and row.get("address")]
        asked = probe_file(network).newest(FEW_SECONDS, [row["index"] for row in rows], now_s)
        answering = [row for row in rows if asked.get(row["index"], (1, 1))[1]]
        fitting = [(row["index"], parse_address(row["address"])) for row in answering]
        fitting = [(index, address) for index, address in fitting if _is_reached(address, interface)]
        for index, address in fitting[:MOST_BROKERS]:
            yield Announcement(network.pk, network.name, network.system, index, address)


def _is_reached(address: Address, interface: str) -> bool:
    """Loopback from loopback; elsewhere the brokers of that interface, and none that only this host reaches."""
    host = ip_address(address[0])
    if is_loopback(interface):
        return host.is_loopback
    return str(host) == interface


class Announcing(threading.Thread):
    """A round every two seconds until ``close``."""

    def __init__(self, host: str, interface: str) -> None:
        super().__init__(name="announcing", daemon=True)
        self._host, self._interface = host, interface
        self._announcer: Announcer | None = None
        self._is_over = threading.Event()

    def run(self) -> None:
        while not self._is_over.is_set():
            close_old_connections()
            wait_s = ROUND_S
            try:
                self.round()
            except InvalidSetting as error:
                log.warning("networks are not announced: %s", error.sentence)
                wait_s = AGAIN_S
            except Exception as error:  # noqa: BLE001  a locked database must not end it
                log.warning("networks were not announced this time: %s", error)
            finally:
                close_old_connections()
            self._is_over.wait(wait_s)
        self._end()

    def round(self) -> None:
        """Announce what runs now. Raises ``InvalidSetting`` if the interface cannot be used."""
        if self._announcer is None:
            self._announcer = Announcer(self._interface)
        self._announcer.show(announced(self._host, self._interface, time.time()))

    def close(self) -> None:
        """Withdraw everything."""
        self._is_over.set()
        if self.is_alive():
            self.join(10)
        else:
            self._end()

    def _end(self) -> None:
        if self._announcer is not None:
            self._announcer.close()
            self._announcer = None
