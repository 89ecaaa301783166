"""Where hosted applications are: the log of a network that runs."""

from __future__ import annotations

import os
from typing import NamedTuple

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot
from overlay.core.errors import WaxwingError
from overlay.programs.contextnet.logs import NetworkLog
from overlay.runtime.logs.connection import Engine
from overlay.runtime.logs.instance import VARIABLE
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.system import SYSTEM


class Place(NamedTuple):
    """Equal while applications may go on."""

    log: NetworkLog
    settings: Settings


def place_of(snapshot: NetworkSnapshot | None) -> Place:
    """Raises ``NotPossible`` if there can be no applications now."""
    if snapshot is None or not snapshot.is_up:
        why = f": {snapshot.reason}" if snapshot is not None and snapshot.reason else "."
        raise NotPossible(f"This network does not run{why}")
    url = os.environ.get(VARIABLE, "")
    try:
        Engine.of(url)
    except WaxwingError:
        raise NotPossible(f"The web process does not know the log of this network: {VARIABLE} is not set.") from None
    settings = SYSTEM.read_settings(snapshot.settings)
    return Place(NetworkLog(url, snapshot.network, settings.partitions), settings)
