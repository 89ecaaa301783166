"""What each system adds to pages and REST, by its name. Systems register themselves when Django is ready."""

from __future__ import annotations

from brokerweb.systems.contract import Entry, Web

_WEBS: dict[str, Web] = {}
_NOTHING = Web()


def register(system: str, web: Web) -> None:
    _WEBS[system] = web


def web_of(system: str) -> Web:
    """Of a system that adds nothing, the contract's own defaults."""
    return _WEBS.get(system, _NOTHING)


def webs() -> tuple[Web, ...]:
    """Of all systems that add something."""
    return tuple(_WEBS.values())


def entries() -> tuple[Entry, ...]:
    """Pages of systems that are in the rail or found by name."""
    return tuple(entry for web in _WEBS.values() for entry in web.entries)
