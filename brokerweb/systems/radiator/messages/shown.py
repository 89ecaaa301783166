"""What the page of one message says, in words: its way with instants since its call was due, and its chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from telemetry.systems.radiator.folding import Gap, folded
from telemetry.systems.radiator.ways import DELIVERED, Chain, Group, Hop, Propagation, Step, Undelivered, Way

MOST_STEPS = 12
"""Steps of one hop in the table."""
MOST_TOGETHER = 12
"""Other messages of a propagation that are linked."""

STATES = {
    "failed": "failed",
    "dropped_unreachable": "dropped: unreachable",
    "unregistered": "dropped: left",
    "taken over": "dropped: id taken over",
    "shut down": "dropped: server shut down",
    "not traced": "delivered, propagation not traced",
}
"""States of recipients in words; others are words already."""
STEPS = {
    "injected": "pushed by the server",
    "left": "left the uplink",
    "acknowledged": "ACK to the server",
    "repeated": "pushed again",
    "progress": "PROGRESS to the server",
    "failed": "FAILED to the server",
    "unanswered": "no ACK to the server",
    "passed over": "passed over",
    "silent": "chain silent from here on",
    "direct": "pushed directly by the server",
    "gave up": "given up from here on",
    "done": "DONE to the server",
}
MARKS = {
    "failed": "FAILED: no ACK",
    "unanswered": "no ACK to the server",
    "passed over": "passed over",
    "silent": "chain silent from here on",
    "direct": "direct push",
    "gave up": "given up from here on",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """What happened at a hop; ``tone`` is ``bad``, ``again`` or ``soft``."""

    text: str
    tone: str


def instants(way: Way) -> list[tuple[str, int | None, str]]:
    """What happened when: words, µs since the call was due, and details."""
    row, due = way.row, way.row["due_us"]
    arrived = sorted(arrival.at_us for arrival in way.records.arrivals.values())
    emitted = [one.emitted_us for one in way.propagations]
    is_heard = row["client"] is not None
    found = [
        ("Due", 0 if is_heard else None, ""),
        ("Called", row["sent_us"] - due if is_heard else None, f"by client {row['client']}" if is_heard else ""),
    ]
    if row["accepted_us"] is None:
        return [*found, ("Not accepted", row["ended_us"] - due, f"{row['outcome'].replace('_', ' ')}")]
    found.append(("Accepted by the server", row["accepted_us"] - due, f"as its message {row['number']}"))
    if is_heard:
        found.append(("Call returned", row["ended_us"] - due, f"{row['outcome'].replace('_', ' ')}"))
    for words, times in (("emission", emitted), ("callback", arrived)):
        if times:
            found.append((f"First {words}", times[0] - due, ""))
        if len(times) > 1:
            found.append((f"Last {words}", times[-1] - due, f"of {len(times):,}"))
    return sorted(found, key=lambda one: -1 if one[1] is None else one[1])


def marks(hop: Hop) -> list[Mark]:
    """What was out of the ordinary at a hop."""
    found = [
        Mark(MARKS[one.step], "again" if one.step == "direct" else "bad") for one in hop.steps if one.step in MARKS
    ]
    found += [
        Mark(f"repair {one.attempt}: pushed by the server", "again")
        for one in hop.steps
        if one.step == "injected" and one.attempt
    ]
    repeats = sum(one.step == "repeated" for one in hop.steps)
    if repeats:
        found.append(Mark(f"{repeats} repeat{'s' if repeats > 1 else ''}", "soft"))
    if hop.state != DELIVERED and (hop.state != "failed" or not any(one.tone == "bad" for one in found)):
        found.append(Mark(state_words(hop.state), "bad"))
    return list(dict.fromkeys(found))


def state_words(state: str) -> str:
    return STATES.get(state, state)


def drawn(chain: Chain) -> list[dict[str, Any]]:
    """A chain as a list of hops and gaps, for the drawing."""
    return [_gap(one) if isinstance(one, Gap) else _hop(one, chain) for one in folded(chain.hops)]


def _gap(gap: Gap) -> dict[str, Any]:
    return {"gap": gap, "lost": gap.count - gap.delivered}


def _hop(hop: Hop, chain: Chain) -> dict[str, Any]:
    found = marks(hop)
    tone = next((one.tone for one in found if one.tone != "soft"), "")
    since = None if hop.received_us is None else hop.received_us - chain.emitted_us
    return {"hop": hop, "marks": found, "tone": tone or ("" if hop.state == DELIVERED else "bad"), "since_us": since}


def hop_row(hop: Hop, chain: Chain, due_us: int) -> dict[str, Any]:
    """A row of the table of hops."""
    sender = (
        "server" if hop.is_from_server else f"client {chain.clients[hop.position - 1]}" if hop.position else "server"
    )
    return {
        "hop": hop,
        "sender": sender if hop.received_us is not None else "",
        "since_us": None if hop.received_us is None else hop.received_us - due_us,
        "state": state_words(hop.state),
        "steps": _steps(hop.steps[:MOST_STEPS], due_us),
        "more": max(0, len(hop.steps) - MOST_STEPS),
    }


def _steps(steps: Sequence[Step], due_us: int) -> list[dict[str, Any]]:
    return [{"words": STEPS.get(one.step, one.step), "since_us": one.at_us - due_us} for one in steps]


def together(propagation: Propagation, way: Way) -> tuple[list[tuple[int, str]], int]:
    """The other messages of a propagation, with their ids, and how many further ones there are."""
    others = [number for number in propagation.messages if number != way.row["number"]]
    names = way.records.names
    return [(number, names.get(number, "")) for number in others[:MOST_TOGETHER]], max(0, len(others) - MOST_TOGETHER)


def group_row(group: Group, way: Way) -> dict[str, Any]:
    """A row of the table of queues; times and other messages are unknown if it did not leave."""
    left = group.propagation
    return {
        "group": group,
        "words": state_words(group.state),
        "since_us": None if left is None else left.emitted_us - way.row["due_us"],
        "retained_us": None if left is None else left.emitted_us - way.row["accepted_us"],
        "others": None if left is None else len(left.messages) - 1,
    }


def undelivered_row(one: Undelivered) -> dict[str, Any]:
    """A row of the table of recipients without the message."""
    return {"client": one.client, "words": state_words(one.state), "propagation": one.propagation.rpartition("-")[2]}


def propagation_row(one: Propagation, way: Way) -> dict[str, Any]:
    """A row of the table of propagations."""
    row: Mapping[str, Any] = way.row
    return {
        "one": one,
        "since_us": one.emitted_us - row["due_us"],
        "retained_us": one.emitted_us - row["accepted_us"],
        "repairs": sum(chain.repairs for chain in one.chains),
        "direct": one.pushes - one.chain_count,
    }
