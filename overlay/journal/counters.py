"""Counters as ticks have them: cumulative since their process started. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def growth(values: Sequence[int]) -> int:
    """How much a cumulative counter grew. A fall is a restart: the process counted again from zero."""
    return sum(later - earlier if later >= earlier else later for earlier, later in pairwise(values))
