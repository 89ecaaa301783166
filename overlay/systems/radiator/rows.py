"""What happened to messages at the server, as rows of the tables ``messages``, ``propagations`` and ``missed``.

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


TABLES = {"messages": Message, "propagations": Propagation, "missed": Missed}


def rows(process: str, epoch: int, events: Iterable[tuple[int, NodeEvent]], zero_ns: int) -> Sequence[Row]:
    life = f"{epoch:016x}"
    return [
        Row(process, (at - zero_ns) // 1000, table, values)
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
    elif isinstance(event, Settled):
        name = propagation_name(epoch, event.propagation)
        for _, client, outcome in event.missed:
            yield "missed", [life, list(event.messages), client, outcome, name]
