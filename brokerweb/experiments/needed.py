"""Which runs somebody needs, so that neither they nor their files are deleted now.

Whoever needs runs is above this app (reports do), and says so when its app is ready.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_

from django.db.models import Exists, Q

BY: list[Callable[[], Exists]] = []
"""Each a condition on rows of ``Run``."""


def is_needed() -> Q:
    """A condition on rows of ``Run``."""
    return reduce(or_, (Q(condition()) for condition in BY), Q(pk__in=[]))
