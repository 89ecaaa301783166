"""Sequence diagrams: a lifeline for each participant, and messages between them. Pure; ``static/js/sequence.js`` draws.

The vertical axis is time in milliseconds, or equal steps, which separate simultaneous messages and make short hops
visible.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from collections.abc import Sequence as Several
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

MOST = 300
"""Maximum messages drawn. A larger diagram could not be read; tables have all of them."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message between two participants. Times are µs since any zero."""

    kind: str
    sender: Hashable
    receiver: Hashable
    sent_us: int
    arrived_us: int | None
    """``None`` if only one end is known."""
    is_lost: bool = False
    """Whether it was sent and did not arrive, or its receiver did not report it."""
    number: int | None = None
    """In its label."""
    code: int | None = None
    """Of its kind in the protocol."""
    passage: int | None = None
    """Its position among the messages that an overlay shows; ``None``: it is not among them."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as drawn. Lifelines are positions in ``Sequence.lanes``; times are in ms since ``begin_us``."""

    kind: str
    code: int | None
    number: int | None
    passage: int | None
    sender: int
    receiver: int
    sent_ms: float
    arrived_ms: float
    ms: float | None
    """Its duration; ``None`` if only one end is known, and it is drawn horizontally."""
    is_lost: bool
    sent_at: int
    """Its start in equal steps, followed by its end."""
    arrived_at: int


@dataclass(frozen=True, slots=True)
class Sequence:
    lanes: list[Any]
    """The lifelines."""
    messages: list[Message]
    steps: int
    """Number of equal steps."""
    left_out: int
    """Messages beyond ``MOST``, and those of participants without a lifeline."""


def numbered(sent: Iterable[Sent], is_server: Callable[[Any], bool]) -> list[Sent]:
    """In the order of sending. Those between servers have a number, from 1, and a position on the overlay."""
    found = sorted(sent, key=lambda one: one.sent_us)
    positions = count()
    return [
        replace(one, number=(at := next(positions)) + 1, passage=at)
        if is_server(one.sender) and is_server(one.receiver)
        else one
        for one in found
    ]


def participants(sent: Several[Sent]) -> list[Any]:
    """In order of participation."""
    return list(dict.fromkeys(end for one in sent for end in (one.sender, one.receiver)))


def sequence(sent: Several[Sent], lanes: Several[Hashable], begin_us: int) -> Sequence:
    """The diagram of messages in chronological order, between the participants of ``lanes``."""
    place = {lane: at for at, lane in enumerate(lanes)}
    kept = [one for one in sent if one.sender in place and one.receiver in place][:MOST]
    ranks, steps = equal_steps([(one.sent_us, one.arrived_us) for one in kept])
    messages = [
        Message(
            kind=one.kind,
            code=one.code,
            number=one.number,
            passage=one.passage,
            sender=place[one.sender],
            receiver=place[one.receiver],
            sent_ms=(one.sent_us - begin_us) / 1000,
            arrived_ms=((one.sent_us if one.arrived_us is None else one.arrived_us) - begin_us) / 1000,
            ms=None if one.arrived_us is None else (one.arrived_us - one.sent_us) / 1000,
            is_lost=one.is_lost,
            sent_at=begin,
            arrived_at=end,
        )
        for one, (begin, end) in zip(kept, ranks, strict=True)
    ]
    return Sequence(list(lanes), messages, steps, len(sent) - len(kept))


def equal_steps(sent: Several[tuple[int, int | None]]) -> tuple[list[tuple[int, int]], int]:
    """Each message's start and end in equal steps, chronologically, and the number of steps.

    ``sent`` are the times of sending and of arrival, ``None`` if unknown. At the same instant, ends come before starts,
    and a message that takes no time ends before the next one starts.
    """
    moments: list[tuple[int, int, int, int]] = []
    for at, (sent_us, arrived_us) in enumerate(sent):
        moments.append((sent_us, 1, at, 0))
        if arrived_us is not None:
            moments.append((arrived_us, 0 if arrived_us > sent_us else 1, at, 1))
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    for rank, (_, _, at, is_end) in enumerate(sorted(moments)):
        (ends if is_end else begins)[at] = rank
    return [(begins[at], ends.get(at, begins[at])) for at in range(len(sent))], len(moments)
