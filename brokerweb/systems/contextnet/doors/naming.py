"""The names of networks, told to their logs, so that commands find a network by its name. Blocking."""

from __future__ import annotations

from contextlib import suppress

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.models import UP, Network
from brokerweb.networks.snapshot import snapshot_of
from brokerweb.systems.contextnet.doors.places import place_of
from overlay.programs.questions import NoAnswer
from overlay.runtime.logs.port import Denied
from overlay.systems.contextnet.system import SYSTEM


def is_any() -> bool:
    return Network.objects.filter(system=SYSTEM.name, state__in=UP).exists()


def tell_all() -> None:
    """A log that has another name, or none as after a start of its network. An engine that is away is told later."""
    away: set[str] = set()  # each request to one would take its time-out
    for network in Network.objects.filter(system=SYSTEM.name, state__in=UP):
        with suppress(NotPossible, Denied):
            log = place_of(snapshot_of(network)).log
            try:
                if log.url not in away and log.name() != network.name:
                    log.call(network.name)
            except NoAnswer:
                away.add(log.url)
