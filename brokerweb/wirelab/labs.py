"""The labs of systems, by the names in the registry."""

from __future__ import annotations

from django.utils.module_loading import import_string

from brokerweb.systems.registry import web_of
from brokerweb.wirelab.lab import Lab
from brokerweb.wirelab.run_messages import FromRecordings, RunMessages
from overlay.systems.registry import SYSTEMS


def lab_of(system: str) -> Lab | None:
    """``None``: it has none, or there is no such system."""
    path = web_of(system).lab
    return import_string(path) if path else None


def messages_of(lab: Lab) -> RunMessages:
    """Those of recorded runs of its system."""
    path = web_of(lab.system).run_messages
    return import_string(path) if path else FromRecordings(lab)


def with_labs() -> list[str]:
    """Names of the systems that have one."""
    return sorted(name for name in SYSTEMS if web_of(name).lab)
