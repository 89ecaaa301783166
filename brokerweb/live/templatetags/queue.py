"""The queue's state for templates: the pause and the number of queued runs."""

from typing import Any

from django import template

from brokerweb.experiments import pause
from brokerweb.experiments.models import Run, RunState

register = template.Library()


@register.simple_tag
def queue_now() -> dict[str, Any]:
    """``{"pause": the pause or None, "queued": number of queued runs}``."""
    return {"pause": pause.current(), "queued": Run.objects.filter(state=RunState.QUEUED).count()}
