"""The queue for templates that are shown anywhere: whether it is paused, and how many wait."""

from typing import Any

from django import template

from brokerweb.experiments import pause
from brokerweb.experiments.models import Run, RunState

register = template.Library()


@register.simple_tag
def queue_now() -> dict[str, Any]:
    """``{"pause": the pause or None, "queued": how many runs wait}``."""
    return {"pause": pause.current(), "queued": Run.objects.filter(state=RunState.QUEUED).count()}
