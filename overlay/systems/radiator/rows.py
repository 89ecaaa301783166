"""What happened to messages at the server, as rows of ``TABLES``.

Counterpart: deliveries and samples of clients. Messages are joined by instance and request, deliveries by epoch and
propagation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.node import NodeEvent
from overlay.journal.facts import Row
from overlay.systems.radiator.chains.propagation import Propagated, Settled
from overlay.systems.radiator.names import call_name, propagation_name
from overlay.systems.radiator.server.facts import MessageAccepted, PendingDropped
from overlay.systems.radiator.tracing import Joined, Pushed, Stepped


@dataclass(frozen=True, slots=True)
class Message:
    """An accepted message, when it was accepted."""

    epoch: str
    number: int
    """Within the epoch."""
    name: str
    """The entity of its sender's sample."""
    due: int
    """Its recipients."""


@dataclass(frozen=True, slots=True)
class Propagation:
    """An entry of ``to_send``, when it was emitted."""

    name: str
    """The publication of its deliveries."""
    epoch: str
    messages: list[int]
    """Numbers of its originals."""
    recipients: int
    pushes: int
    """First pushes by the server."""
    chains: int
    """Of those, the ones with a chain."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Messages that a recipient will not get, or is not known to have got."""

    epoch: str
    messages: list[int]
    client: str
    """Its id."""
    outcome: str
    propagation: str
    """Its name; empty for messages that were pending."""


@dataclass(frozen=True, slots=True)
class Queued:
    """Recipients for whom a traced message joined a queue, when it was accepted."""

    epoch: str
    message: int
    """Its number."""
    queue: str
    """The result of the aggregability: ``volume 3``, ``people 10`` or ``time 30``."""
    clients: list[int]


@dataclass(frozen=True, slots=True)
class Members:
    """A chain that is traced, from its beginning or since its first trouble."""

    propagation: str
    """Its name."""
    chain: int
    """-1: these clients get direct pushes."""
    clients: list[int]
    """By position."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a traced chain at the server, or a repeat by any client."""

    propagation: str
    chain: int
    step: str
    """One of ``tracing.STEPS``."""
    position: int
    attempt: int


TABLES = {
    "messages": Message,
    "propagations": Propagation,
    "missed": Missed,
    "queued": Queued,
    "chains": Members,
    "steps": Step,
}


def rows(process: str, epoch: int, events: Iterable[tuple[int, NodeEvent]], zero_ns: int) -> Sequence[Row]:
    life = f"{epoch:016x}"
    return [
        Row(process, ((event.at if isinstance(event, Stepped) else at) - zero_ns) // 1000, table, values)
        for at, event in events
        for table, values in _values(life, epoch, event)
    ]


def _values(life: str, epoch: int, event: NodeEvent) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(event, MessageAccepted):
        yield "messages", [life, event.number, call_name(event.instance, event.req), event.due]
    elif isinstance(event, Propagated):
        name, originals = propagation_name(epoch, event.propagation), list(event.messages)
        yield "propagations", [name, life, originals, event.recipients, event.pushes, event.chains]
    elif isinstance(event, PendingDropped):
        yield "missed", [life, list(event.messages), event.id, event.reason, ""]
    elif isinstance(event, Joined):
        yield "queued", [life, event.number, "{} {}".format(*event.threshold), event.clients]
    elif isinstance(event, Pushed):
        yield "chains", [propagation_name(epoch, event.propagation), event.chain, event.clients]
    elif isinstance(event, Stepped):
        name = propagation_name(epoch, event.propagation)
        yield "steps", [name, event.chain, event.step, event.position, event.attempt]
    elif isinstance(event, Settled):
        name = propagation_name(epoch, event.propagation)
        for _, client, outcome in event.missed:
            yield "missed", [life, list(event.messages), client, outcome, name]
