"""The bridges of a network, for its page, which belongs to a package below."""

from __future__ import annotations

from typing import Any

from django import template

from brokerweb.bridges import shown
from overlay.systems.registry import SYSTEMS

register = template.Library()


@register.inclusion_tag("bridges/part.html", takes_context=True)
def bridges_of(context: dict[str, Any], network: Any) -> dict[str, Any]:
    return {"may": context["may"], "csrf_token": context.get("csrf_token"), **shown.part(network)}


@register.filter
def has_bridges(system: str) -> bool:
    """Whether networks of this system have bridges."""
    return bool(SYSTEMS[system].bridging)
