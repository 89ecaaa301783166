"""Systems from other packages, named in the environment. Every process registers them when it starts.

``WAXWING_SYSTEMS=mylab.echo:SYSTEM,mylab.gossip:SYSTEM`` adds two systems to the registry, each an instance of
``overlay.systems.contract.System``, which names its telemetry, its commands and its Django application in attributes.
The supervisor, the worker and the web inherit the variable, so it is set once.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from overlay.core.errors import InvalidSetting
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS

VARIABLE = "WAXWING_SYSTEMS"


def register_systems(environment: Mapping[str, str]) -> list[System]:
    """Add every system named in ``environment`` to the registry, and return them. Raises ``InvalidSetting``."""
    found = []
    for text in filter(None, map(str.strip, environment.get(VARIABLE, "").split(","))):
        system = _load(text)
        known = SYSTEMS.get(system.name)
        if known is not None and type(known) is not type(system):
            raise InvalidSetting(VARIABLE, f"{text}: a system named {system.name} already exists")
        found.append(SYSTEMS.setdefault(system.name, system))
    return found


def _load(text: str) -> System:
    module, colon, name = text.partition(":")
    if not colon:
        raise InvalidSetting(VARIABLE, f"{text!r:.80} must be MODULE:NAME, such as mylab.echo:SYSTEM")
    try:
        system = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InvalidSetting(VARIABLE, f"{text!r:.80} cannot be imported: {error}") from None
    if not isinstance(system, System):
        raise InvalidSetting(VARIABLE, f"{text!r:.80} is not a System")
    return system
