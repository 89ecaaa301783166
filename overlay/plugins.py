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
    """Add every system named in ``environment`` to the registry, and return them.

    Raises ``InvalidSetting`` if one cannot be imported, is no ``System``, lacks an attribute that has no default, or
    has the name of another system.
    """
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
    except (ImportError, AttributeError, TypeError, ValueError) as error:  # the last two: a declaration that is wrong
        raise InvalidSetting(VARIABLE, f"{text!r:.80} cannot be imported: {error}") from None
    if not isinstance(system, System):
        raise InvalidSetting(VARIABLE, f"{text!r:.80} is not a System")
    if missing := [attribute for attribute in System.__annotations__ if not hasattr(system, attribute)]:
        raise InvalidSetting(VARIABLE, f"{text!r:.80} has no {', '.join(missing)}")
    return system
