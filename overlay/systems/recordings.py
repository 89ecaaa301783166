"""Creates recordings with everything needed to create the server again. Counterpart: ``overlay.sim.replay``."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any

from overlay import __version__
from overlay.core.hashes import digest_of_code
from overlay.journal.recording import MEGABYTE, Begin, Recorder
from overlay.systems.contract import System
from overlay.systems.roles import Place


def server_code(system: System) -> str:
    """A digest of the code that determines the output of the system's servers."""
    return _digest(*system.code)


_digest = cache(digest_of_code)


def recorder_of(
    system: System,
    config: Any,
    place: Place,
    chance: tuple[str, int],
    wall_offset_ns: int,
    *,
    secret: bytes = b"",
    path: Path,
    most_mb: int,
    life: int = 1,
    zero_ns: int = 0,
) -> Recorder:
    """The recorder of a server that is made with the same; ``chance`` is the kind of its chances and their seed,
    ``secret`` that of ``Chances``."""
    begin = Begin(
        process=place.name,
        life=life,
        address=place.address,
        config=system.config_document(config),
        chance=chance[0],
        seed=chance[1],
        wall_offset_ns=wall_offset_ns,
        zero_ns=zero_ns,
        version=__version__,
        code=server_code(system),
        python=platform.python_version(),
        system=system.name,
        index=place.index,
        servers=tuple(place.servers),
        secret=secret,
    )
    return Recorder(path, begin, most_mb * MEGABYTE)
