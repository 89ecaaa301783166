"""The counters of ticks, cumulative since the start of their process. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def growth(values: Sequence[int]) -> int:
    """The growth of a cumulative counter. A decrease means a restart, after which it counted from zero again."""
    return sum(later - earlier if later >= earlier else later for earlier, later in pairwise(values))
