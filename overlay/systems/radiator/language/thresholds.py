"""Thresholds: the results of aggregability functions.

``("volume", 5)``: 5 messages. ``("people", 10)``: 10 distinct people. ``("time", 300)``: 300 s between the receptions
of the oldest and the newest message; 0 is immediate. Messages with equal thresholds are in one queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any, Literal

from overlay.systems.radiator.language.operations import LIMIT, Failure

Kind = Literal["volume", "people", "time"]
KINDS: tuple[Kind, ...] = ("volume", "people", "time")
Threshold = tuple[Kind, int]


def volume(value: Any) -> Threshold:
    whole = _whole(value)
    return ("volume", whole if whole > 1 else 1)


def people(value: Any) -> Threshold:
    whole = _whole(value)
    return ("people", whole if whole > 1 else 1)


def time(value: Any) -> Threshold:
    whole = _whole(value)
    return ("time", whole if whole > 0 else 0)


def _whole(value: Any) -> int:
    """Rounded down. Raises ``Failure``."""
    if type(value) is not int and type(value) is not float:
        raise Failure
    whole = floor(value)
    if -LIMIT <= whole <= LIMIT:
        return whole
    raise Failure


MAKERS = {"volume": volume, "people": people, "time": time}


def threshold_of(result: Any) -> Threshold:
    """The threshold of ``{"volume": 5}``. Raises ``Failure``."""
    if not isinstance(result, Mapping) or len(result) != 1:
        raise Failure
    ((kind, value),) = result.items()
    if kind not in MAKERS:
        raise Failure
    return MAKERS[kind](value)
