"""Template tags for the registry of systems."""

from __future__ import annotations

from django.template import Library

from brokerweb.systems import registry
from brokerweb.systems.contract import Entry
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
