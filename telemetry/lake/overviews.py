"""What a slider over the messages of a recorded run shows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 240


@dataclass(frozen=True, slots=True)
class Overview:
    count: int
    first_us: int
    last_us: int
    bins: list[int]
    """Messages sent in each of as many parts of that time: part i begins at ``first_us + span * i // parts``, where
    the span is the time from the first to the last, and one microsecond.
    """
    families: Mapping[str, int]
    """Messages by family."""
    longest_us: int
    """The longest that one was under way."""
    kept_until_us: int | None = None
    """Messages after this are not shown."""
    full: Sequence[str] = ()
    """Servers that recorded until their room was used up."""
    brokers: Mapping[str, int] = field(default_factory=dict)
    """Index by address."""


def overview(times: NDArray[Any], arrivals: NDArray[Any], families: Mapping[str, int], **more: Any) -> Overview:
    """Of at least one message. ``times`` of sending, ascending, and ``arrivals``, NaN where there is none, µs."""
    first, last = int(times[0]), int(times[-1])
    edges = first + (last - first + 1) * np.arange(BINS + 1) // BINS
    return Overview(
        count=len(times),
        first_us=first,
        last_us=last,
        bins=np.diff(np.searchsorted(times, edges)).tolist(),
        families=families,
        longest_us=int(np.nanmax(arrivals - times, initial=0)),
        **more,
    )
