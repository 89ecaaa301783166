"""Names of networks."""

from __future__ import annotations

from brokerweb.networks.models import Network
from overlay.core.errors import InvalidSetting


def free_name(name: str) -> str:
    """``name`` if it is free. Raises ``InvalidSetting``."""
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidSetting("name", "must be 1 to 100 printable characters")
    if Network.objects.filter(name=name).exists():
        raise InvalidSetting("name", f"{name!r} is taken by another network")
    return name
