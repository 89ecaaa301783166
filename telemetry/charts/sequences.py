"""The vertical axis of sequence diagrams in equal steps, which separate simultaneous messages."""

from __future__ import annotations

from collections.abc import Sequence


def equal_steps(sent: Sequence[tuple[int, int | None]]) -> tuple[list[tuple[int, int]], int]:
    """Each message's start and end in equal steps, chronologically, and the number of steps.

    ``sent`` are the times of sending and of arrival, ``None`` if unknown. At the same instant, ends before starts.
    """
    moments: list[tuple[int, int, int]] = []
    for at, (sent_us, arrived_us) in enumerate(sent):
        moments.append((sent_us, 1, at))
        if arrived_us is not None:
            moments.append((arrived_us, 0 if arrived_us > sent_us else 2, at))
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    for rank, (_, end, at) in enumerate(sorted(moments)):
        (begins if end == 1 else ends)[at] = rank
    return [(begins[at], ends.get(at, begins[at])) for at in range(len(sent))], len(moments)
