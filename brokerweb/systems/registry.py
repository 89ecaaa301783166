"""The web parts of systems by name. Systems register themselves when Django is ready."""

from __future__ import annotations

from brokerweb.systems.contract import Context, Entry, Web

_WEBS: dict[str, Web] = {}
_NOTHING = Web()


def register(system: str, web: Web) -> None:
    _WEBS[system] = web


def web_of(system: str) -> Web:
    """The web part of a system; the contract's defaults if it has none."""
    return _WEBS.get(system, _NOTHING)


def webs() -> tuple[Web, ...]:
    """All registered web parts."""
    return tuple(_WEBS.values())


def contexts() -> tuple[Context, ...]:
    """The operations on context of all systems that have some."""
    return tuple(web.context for web in _WEBS.values() if web.context is not None)


def trace_filters() -> tuple[str, ...]:
    """Of the traces of all systems. Each name once."""
    return tuple(dict.fromkeys(name for web in _WEBS.values() for name in web.trace_filters))


def entries() -> tuple[Entry, ...]:
    """Pages of systems in the navigation or the search."""
    return tuple(entry for web in _WEBS.values() for entry in web.entries)
