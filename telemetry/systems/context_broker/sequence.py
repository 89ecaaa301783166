"""One query as a sequence diagram, with a lifeline per participant and its messages. Pure.

::

    consumer   0          1          2            time goes down; a message's line falls by what it took
       | ─────>|          |          |
       |       | ── 1 ───>|          |
       |       |          | ── 2 ───>|
       |       |          |<─ ─ ─ ─ ─|
       |<─ ─ ─ | <─ ─ ─ ─ |          |

The vertical axis is time in milliseconds, or equal steps, which separate simultaneous messages and make short
hops visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from overlay.systems.context_broker.wire.extensions import Lookahead
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextResponse, Nack
from overlay.systems.context_broker.wire.table import BY_CLASS
from telemetry.charts.sequences import equal_steps
from telemetry.systems.context_broker.traces import CONSUMER, Query, Step

MOST = 300
"""Maximum messages drawn. A larger diagram could not be read; the table has all of them."""

CODES = {
    BY_CLASS[message].short: BY_CLASS[message].code for message in (ContextRequest, Lookahead, ContextResponse, Nack)
}
"""The codes of a query's messages, by their short names."""
_TO_CONSUMER = {"found": "answer", "replied": "answer", "turned away": "refusal", "passed back": "refusal"}


@dataclass(frozen=True, slots=True)
class Message:
    """Lifelines are positions in ``Sequence.lanes``; times are in ms since the arrival of the request at the first
    broker."""

    kind: str
    code: int
    number: int | None
    """For a request between brokers: its number within the query, from 1."""
    passage: int | None
    """Its position among the query's hops; ``None`` for messages to or from the consumer."""
    sender: int
    receiver: int
    sent_ms: float
    arrived_ms: float
    ms: float | None
    """Its duration; ``None`` if only one end is known, and it is drawn horizontally."""
    is_lost: bool
    """Whether it was sent without a report of its receiver."""
    sent_at: int
    """Its start in equal steps, followed by its end."""
    arrived_at: int


@dataclass(frozen=True, slots=True)
class Sequence:
    lanes: list[int | None]
    """The lifelines: the consumer, which is ``None``, and brokers by index, in order of participation."""
    messages: list[Message]
    steps: int
    """Number of equal steps."""
    left_out: int
    """Messages beyond ``MOST``."""


@dataclass(slots=True)
class _Sent:
    kind: str
    number: int | None
    passage: int | None
    sender: int
    receiver: int
    sent_us: int
    arrived_us: int | None


def sequence_of(query: Query, sent_by_consumer_us: int | None = None, ended_us: int | None = None) -> Sequence:
    """``sent_by_consumer_us`` and ``ended_us`` are the consumer's times of sending and of the answer, if known."""
    sent = [*_from_consumer(query, sent_by_consumer_us), *_between_brokers(query), *_to_consumer(query, ended_us)]
    sent.sort(key=lambda one: one.sent_us)  # a stable sort keeps the order of simultaneous messages
    kept = sent[:MOST]
    lanes = list(dict.fromkeys(end for one in kept for end in (one.sender, one.receiver)))
    lanes.sort(key=lambda lane: lane != CONSUMER)  # a stable sort: the consumer first, others in order of participation
    place = {lane: at for at, lane in enumerate(lanes)}
    ranks, steps = equal_steps([(one.sent_us, one.arrived_us) for one in kept])
    begin = query.at_us
    messages = [
        Message(
            kind=one.kind,
            code=CODES[one.kind],
            number=one.number,
            passage=one.passage,
            sender=place[one.sender],
            receiver=place[one.receiver],
            sent_ms=(one.sent_us - begin) / 1000,
            arrived_ms=((one.sent_us if one.arrived_us is None else one.arrived_us) - begin) / 1000,
            ms=None if one.arrived_us is None else (one.arrived_us - one.sent_us) / 1000,
            is_lost=one.arrived_us is None and one.receiver in query.silent,
            sent_at=begin_at,
            arrived_at=end_at,
        )
        for one, (begin_at, end_at) in zip(kept, ranks, strict=True)
    ]
    return Sequence([None if lane == CONSUMER else lane for lane in lanes], messages, steps, len(sent) - len(kept))


def _between_brokers(query: Query) -> Iterable[_Sent]:
    """If only the receiver reported a message, its sending is placed at the previous message."""
    before = query.at_us
    for passage, hop in enumerate(query.hops):
        left = before if hop.left_us is None else hop.left_us
        before = left
        arrived = None if hop.us is None else left + hop.us
        yield _Sent(hop.kind, hop.number, passage, hop.sender, hop.receiver, left, arrived)


def _from_consumer(query: Query, sent_us: int | None) -> Iterable[_Sent]:
    asked = next((step for step in query.steps if step.step == "received" and step.peer == CONSUMER), None)
    if asked is not None:
        left = asked.at_us if sent_us is None else min(sent_us, asked.at_us)
        yield _Sent("request", None, None, CONSUMER, asked.broker, left, None if sent_us is None else asked.at_us)


def _to_consumer(query: Query, ended_us: int | None) -> Iterable[_Sent]:
    """The answer or refusal that ended it."""
    end = _ends(query.steps)
    if end is not None:
        arrived = None if ended_us is None or ended_us < end.at_us else ended_us
        yield _Sent(_TO_CONSUMER[end.step], None, None, end.broker, CONSUMER, end.at_us, arrived)


def _ends(steps: Iterable[Step]) -> Step | None:
    return next((step for step in steps if step.peer == CONSUMER and step.step in _TO_CONSUMER), None)
