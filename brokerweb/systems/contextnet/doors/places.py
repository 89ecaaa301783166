"""Where hosted applications are: the log of a network that runs."""

from __future__ import annotations

from typing import NamedTuple

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot
from overlay.core.errors import WaxwingError
from overlay.log.spec import LogSpec
from overlay.programs.contextnet.logs import NetworkLog
from overlay.runtime.logs.engines import url_for
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
    settings = SYSTEM.read_settings(snapshot.settings)
    try:
        url = url_for(LogSpec((), settings.log_engine))
    except WaxwingError as error:
        raise NotPossible(f"The web process does not know the log of this network: {error}") from None
    return Place(NetworkLog(url, snapshot.network, settings.partitions), settings)
