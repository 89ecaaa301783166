"""One chain as a sequence diagram: the server and its members as lifelines, pushes and reports between them. Pure.

::

    server   client 7   client 2   client 9   client 4
      | ─ push ─>|          |          |          |
      |<─ ACK ─ ─| ─ push ─>|          |          |
      |          |          | ─ push ─x|          |      repeated, then given up
      |<─ ─ ─ ─ FAILED ─ ─ ─|          |          |
      | ─ push ───────────────────────────────────>|
      |<─ ─ ─ ─ ─ ─ ─ ─ ─ ─ DONE ─ ─ ─ ─ ─ ─ ─ ─ ─|

Of a long chain only the hops that are also drawn as a chain are lifelines (``folding``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from telemetry.charts.sequences import equal_steps
from telemetry.systems.radiator.folding import folded
from telemetry.systems.radiator.ways import Chain, Hop

MOST = 300
"""Maximum messages drawn; the tables have all of them."""
MOST_LANES = 16
SERVER = -1
REPORTS = {"acknowledged": "ack", "progress": "progress", "done": "done"}
PUSHES = ("injected", "direct")


@dataclass(frozen=True, slots=True)
class Message:
    """Lifelines are positions in ``Sequence.lanes``; times are in ms since the propagation was emitted."""

    kind: str
    """``push``, ``repeat``, ``ack``, ``failed``, ``progress`` or ``done``."""
    number: int | None
    """Of a repair, its attempt."""
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
    lanes: list[str]
    """The lifelines: the server, and clients by position."""
    messages: list[Message]
    steps: int
    """Number of equal steps."""
    left_out: int
    """Messages beyond ``MOST``, and those of hops that are not drawn."""


@dataclass(slots=True)
class _Sent:
    kind: str
    number: int | None
    sender: int
    """A position, or ``SERVER``."""
    receiver: int
    sent_us: int
    arrived_us: int | None
    is_lost: bool = False


def sequence_of(chain: Chain) -> Sequence:
    """The diagram of a traced chain."""
    drawn = [hop for hop in folded(chain.hops, MOST_LANES) if isinstance(hop, Hop)]
    place = {SERVER: 0, **{hop.position: at for at, hop in enumerate(drawn, start=1)}}
    sent = [*_failures(chain), *_pushes(chain), *_forwarded(chain), *_reports(chain)]
    sent.sort(key=lambda one: one.sent_us)  # a stable sort: FAILED before the push that repairs the chain
    kept = [one for one in sent if one.sender in place and one.receiver in place][:MOST]
    ranks, steps = equal_steps([(one.sent_us, one.arrived_us) for one in kept])
    messages = [
        Message(
            kind=one.kind,
            number=one.number,
            sender=place[one.sender],
            receiver=place[one.receiver],
            sent_ms=(one.sent_us - chain.emitted_us) / 1000,
            arrived_ms=((one.sent_us if one.arrived_us is None else one.arrived_us) - chain.emitted_us) / 1000,
            ms=None if one.arrived_us is None else (one.arrived_us - one.sent_us) / 1000,
            is_lost=one.is_lost,
            sent_at=begin,
            arrived_at=end,
        )
        for one, (begin, end) in zip(kept, ranks, strict=True)
    ]
    return Sequence(["server", *(f"client {hop.client}" for hop in drawn)], messages, steps, len(sent) - len(kept))


def _pushes(chain: Chain) -> Iterator[_Sent]:
    """By the server, with repeats."""
    lost = {(one.position, one.attempt) for one in chain.steps if one.step == "unanswered"}
    left = {(one.position, one.attempt): one.at_us for one in chain.steps if one.step == "left"}
    mine = {(one.position, one.attempt) for one in chain.steps if one.step in PUSHES}
    for one in chain.steps:
        key = one.position, one.attempt
        if one.step in PUSHES:
            sent_us, hop = left.get(key, one.at_us), chain.hops[one.position]
            is_it = hop.is_from_server and hop.received_us is not None and hop.received_us >= sent_us
            is_it = is_it and not _overtaken(chain, one.position, sent_us, hop.received_us)
            yield _Sent(
                "push",
                one.attempt or None,
                SERVER,
                one.position,
                sent_us,
                hop.received_us if is_it else None,
                key in lost,
            )
        elif one.step == "repeated":
            sender = SERVER if key in mine else one.position - 1
            yield _Sent("repeat", None, sender, one.position, one.at_us, None)


def _overtaken(chain: Chain, position: int, sent_us: int, received_us: int | None) -> bool:
    """Whether a later push by the server to the same client left before it received the message."""
    again = (one.at_us for one in chain.steps if one.step in PUSHES and one.position == position)
    return received_us is None or any(sent_us < at_us <= received_us for at_us in again)


def _forwarded(chain: Chain) -> Iterator[_Sent]:
    """By clients: a client forwards when it receives."""
    failed = {one.position for one in chain.steps if one.step == "failed"}
    for before, hop in zip(chain.hops, chain.hops[1:], strict=False):
        if hop.received_us is not None and not hop.is_from_server:
            sent_us = hop.received_us if hop.took_us is None else hop.received_us - hop.took_us
            arrived_us = None if hop.took_us is None else hop.received_us
            yield _Sent("push", None, before.position, hop.position, sent_us, arrived_us)
        elif hop.position in failed and before.received_us is not None:
            yield _Sent("push", None, before.position, hop.position, before.received_us, None, is_lost=True)


def _failures(chain: Chain) -> Iterator[_Sent]:
    """FAILED, when the server received it."""
    failed = (one for one in chain.steps if one.step == "failed")
    return (_Sent("failed", None, one.position - 1, SERVER, one.at_us, None) for one in failed)


def _reports(chain: Chain) -> Iterator[_Sent]:
    """Other reports, when the server received them."""
    reports = (one for one in chain.steps if one.step in REPORTS)
    return (_Sent(REPORTS[one.step], None, one.position, SERVER, one.at_us, None) for one in reports)
