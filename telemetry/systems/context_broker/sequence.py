"""One query as a sequence diagram, with a lifeline per participant and its messages. Pure.

::

    consumer   0          1          2            time goes down; a message's line falls by what it took
       | ─────>|          |          |
       |       | ── 1 ───>|          |
       |       |          | ── 2 ───>|
       |       |          |<─ ─ ─ ─ ─|
       |<─ ─ ─ | <─ ─ ─ ─ |          |

Times are since the arrival of the request at the first broker. Lifelines are the consumer, which is ``None``, and
brokers by index. Requests between brokers have numbers; passages are positions among the query's hops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from overlay.systems.context_broker.wire.extensions import Lookahead
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextResponse, Nack
from overlay.systems.context_broker.wire.table import BY_CLASS
from telemetry.charts.sequences import MOST, Sent, Sequence, participants, sequence
from telemetry.systems.context_broker.traces import CONSUMER, Query, Step

CODES = {
    BY_CLASS[message].short: BY_CLASS[message].code for message in (ContextRequest, Lookahead, ContextResponse, Nack)
}
"""The codes of a query's messages, by their short names."""
_TO_CONSUMER = {"found": "answer", "replied": "answer", "turned away": "refusal", "passed back": "refusal"}


def sequence_of(query: Query, sent_by_consumer_us: int | None = None, ended_us: int | None = None) -> Sequence:
    """``sent_by_consumer_us`` and ``ended_us`` are the consumer's times of sending and of the answer, if known."""
    sent = [*_from_consumer(query, sent_by_consumer_us), *_between_brokers(query), *_to_consumer(query, ended_us)]
    sent.sort(key=lambda one: one.sent_us)  # a stable sort keeps the order of simultaneous messages
    lanes = participants(sent[:MOST])
    lanes.sort(key=lambda lane: lane != CONSUMER)  # a stable sort: the consumer first, others in order of participation
    drawn = sequence(sent, lanes, query.at_us)
    return replace(drawn, lanes=[None if lane == CONSUMER else lane for lane in lanes])


def _between_brokers(query: Query) -> Iterable[Sent]:
    """If only the receiver reported a message, its sending is placed at the previous message."""
    before = query.at_us
    for passage, hop in enumerate(query.hops):
        left = before if hop.left_us is None else hop.left_us
        before = left
        arrived = None if hop.us is None else left + hop.us
        is_lost = arrived is None and hop.receiver in query.silent
        code = CODES[hop.kind]
        yield Sent(hop.kind, hop.sender, hop.receiver, left, arrived, is_lost, hop.number, code, passage)


def _from_consumer(query: Query, sent_us: int | None) -> Iterable[Sent]:
    asked = next((step for step in query.steps if step.step == "received" and step.peer == CONSUMER), None)
    if asked is not None:
        left = asked.at_us if sent_us is None else min(sent_us, asked.at_us)
        arrived = None if sent_us is None else asked.at_us
        is_lost = arrived is None and asked.broker in query.silent
        yield Sent("request", CONSUMER, asked.broker, left, arrived, is_lost, code=CODES["request"])


def _to_consumer(query: Query, ended_us: int | None) -> Iterable[Sent]:
    """The answer or refusal that ended it."""
    end = _ends(query.steps)
    if end is not None:
        arrived = None if ended_us is None or ended_us < end.at_us else ended_us
        kind = _TO_CONSUMER[end.step]
        yield Sent(kind, end.broker, CONSUMER, end.at_us, arrived, code=CODES[kind])


def _ends(steps: Iterable[Step]) -> Step | None:
    return next((step for step in steps if step.peer == CONSUMER and step.step in _TO_CONSUMER), None)
