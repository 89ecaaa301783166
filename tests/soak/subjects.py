"""The systems that have stories, each imported when it is soaked."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tests.soak.subject import Subject

MODULES = {
    "context-broker": "tests.swarm.subject",
    "contextnet": "tests.contextnet.stories.subject",
    "federation": "tests.federation.village.subject",
    "radiator": "tests.radiator.swarm.subject",
    "silbops": "tests.silbops.stories.subject",
}


@cache
def subject_of(system: str) -> Subject:
    found: Subject = import_module(MODULES[system]).SUBJECT
    return found
