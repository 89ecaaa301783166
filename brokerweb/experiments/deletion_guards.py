"""Conditions under which runs and their files must not be deleted.

Apps above this one that need runs (reports) register a condition when they are ready.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_

from django.db.models import Exists, Q

BY: list[Callable[[], Exists]] = []
"""Conditions on rows of ``Run``."""


def is_needed() -> Q:
    """A condition that selects needed rows of ``Run``."""
    return reduce(or_, (Q(condition()) for condition in BY), Q(pk__in=[]))
