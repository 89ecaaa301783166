"""One chain as a sequence diagram: the server and its members as lifelines, pushes and reports between them. Pure.

::

    server   client 7   client 2   client 9   client 4
      | ─ push ─>|          |          |          |
      |<─ ACK ─ ─| ─ push ─>|          |          |
      |          |          | ─ push ─x|          |      repeated, then given up
      |<─ ─ ─ ─ FAILED ─ ─ ─|          |          |
      | ─ push ───────────────────────────────────>|
      |<─ ─ ─ ─ ─ ─ ─ ─ ─ ─ DONE ─ ─ ─ ─ ─ ─ ─ ─ ─|

Times are since the propagation was emitted. Kinds are push, repeat, ack, failed, progress and done; of a repair, the
number is its attempt. Of a long chain only the hops that are also drawn as a chain are lifelines (``folding``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from telemetry.charts.sequences import Sent, Sequence, sequence
from telemetry.systems.radiator.folding import folded
from telemetry.systems.radiator.ways import Chain, Hop

MOST_LANES = 16
SERVER = -1
REPORTS = {"acknowledged": "ack", "progress": "progress", "done": "done"}
PUSHES = ("injected", "direct")


def sequence_of(chain: Chain) -> Sequence:
    """The diagram of a traced chain."""
    drawn = [hop for hop in folded(chain.hops, MOST_LANES) if isinstance(hop, Hop)]
    sent = [*_failures(chain), *_pushes(chain), *_forwarded(chain), *_reports(chain)]
    sent.sort(key=lambda one: one.sent_us)  # a stable sort: FAILED before the push that repairs the chain
    found = sequence(sent, [SERVER, *(hop.position for hop in drawn)], chain.emitted_us)
    return replace(found, lanes=["server", *(f"client {hop.client}" for hop in drawn)])


def _pushes(chain: Chain) -> Iterator[Sent]:
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
            arrived_us, number = hop.received_us if is_it else None, one.attempt or None
            yield Sent("push", SERVER, one.position, sent_us, arrived_us, key in lost, number)
        elif one.step == "repeated":
            sender = SERVER if key in mine else one.position - 1
            yield Sent("repeat", sender, one.position, one.at_us, None)


def _overtaken(chain: Chain, position: int, sent_us: int, received_us: int | None) -> bool:
    """Whether a later push by the server to the same client left before it received the message."""
    again = (one.at_us for one in chain.steps if one.step in PUSHES and one.position == position)
    return received_us is None or any(sent_us < at_us <= received_us for at_us in again)


def _forwarded(chain: Chain) -> Iterator[Sent]:
    """By clients: a client forwards when it receives."""
    failed = {one.position for one in chain.steps if one.step == "failed"}
    for before, hop in zip(chain.hops, chain.hops[1:], strict=False):
        if hop.received_us is not None and not hop.is_from_server:
            sent_us = hop.received_us if hop.took_us is None else hop.received_us - hop.took_us
            arrived_us = None if hop.took_us is None else hop.received_us
            yield Sent("push", before.position, hop.position, sent_us, arrived_us)
        elif hop.position in failed and before.received_us is not None:
            yield Sent("push", before.position, hop.position, before.received_us, None, is_lost=True)


def _failures(chain: Chain) -> Iterator[Sent]:
    """FAILED, when the server received it."""
    failed = (one for one in chain.steps if one.step == "failed")
    return (Sent("failed", one.position - 1, SERVER, one.at_us, None) for one in failed)


def _reports(chain: Chain) -> Iterator[Sent]:
    """Other reports, when the server received them."""
    reports = (one for one in chain.steps if one.step in REPORTS)
    return (Sent(REPORTS[one.step], one.position, SERVER, one.at_us, None) for one in reports)
