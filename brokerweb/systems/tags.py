"""Template tags for the registry of systems."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.template import Library
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brokerweb.systems import registry
from brokerweb.systems.contract import Entry
from overlay.systems import registry as registered
from overlay.systems.registry import SYSTEMS, servers_title
from overlay.systems.roles import Title
from telemetry.systems.contract import Counters
from telemetry.systems.registry import telemetry_of

register = Library()


@register.simple_tag
def system_entries() -> list[Entry]:
    """Navigation entries of systems."""
    return [entry for entry in registry.entries() if entry.icon]


@register.simple_tag
def any_server() -> Title:
    """What a server of any system here is called."""
    return servers_title(SYSTEMS)


@register.simple_tag
def has_own_tables(system: str) -> bool:
    """Whether the lake has tables of its own."""
    return bool(telemetry_of({"system": system}).tables)


@register.simple_tag
def counters_of(system: str) -> Counters:
    """Which counters of its servers are shown."""
    return telemetry_of({"system": system}).counters


@register.filter
def have_topologies(systems: Any) -> bool:
    """Whether users choose topologies for a system, or for those of runs."""
    return registered.have_topologies([systems] if isinstance(systems, str) else {run.system for run in systems})


@register.filter
def system_title(system: str) -> str:
    """What pages call a system; of one that was removed its name."""
    return SYSTEMS[system].title if system in SYSTEMS else system


@register.filter
def system_mark(system: str) -> SafeString | str:
    """A system as a letter in a square; empty where there is one system only."""
    if len(SYSTEMS) < 2:
        return ""
    title = system_title(system)
    letters = format_html('<span aria-hidden="true">{}</span>', letters_of(system))
    return format_html(
        '<span class="system-mark" title="{0}">{1}<span class="visually-hidden">{0}</span></span>', title, letters
    )


@cache
def letters_of(system: str) -> str:
    """The shortest beginning of its title that no other title has."""
    titles = {name: one.title for name, one in SYSTEMS.items()}
    own = titles.pop(system, system)
    beginnings = (own[:length] for length in range(1, len(own)))
    return next((one for one in beginnings if not any(title.startswith(one) for title in titles.values())), own)
