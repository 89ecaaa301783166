"""What clients and servers report of a run, with samples and events, as rows of ``TABLES``, for its measures.

Counterparts: the clients in ``load`` and the store write them, ``measuring`` reads them. Times ``*_us`` are µs since
the zero of the deployment. Ids of messages are in hexadecimal digits; nodes have their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from overlay.journal.own_rows import Rows

if TYPE_CHECKING:
    from overlay.systems.contextnet.tracing import Stepped


@dataclass(frozen=True, slots=True)
class Planned:
    """What measures need of a workload; each process of nodes writes it once."""

    capacities: list[int]
    """Connections that load each gateway fully; empty: all are alike."""
    round_s: int
    disconnecting: list[int]
    """The nodes of this process that are off from time to time."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A node was off, written at its end, or at that of the run."""

    node: int
    off_us: int
    on_us: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """A message was handed over to its receiver's application again."""

    id: str
    again_us: int


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A node had no room for its answer to a message."""

    id: str
    """The message's."""


@dataclass(frozen=True, slots=True)
class Shifted:
    """A node got another address."""

    node: int
    shifted_us: int


@dataclass(frozen=True, slots=True)
class ContextSet:
    """The context of a node: its values by definer."""

    node: int
    values: list[int]
    set_us: int


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a node that drives was when it set its context, km."""

    node: int
    x: float
    y: float
    set_us: int


@dataclass(frozen=True, slots=True)
class Cast:
    """A message to a group, when it was due."""

    id: str
    definer: int
    group: int
    due_us: int


@dataclass(frozen=True, slots=True)
class Stayed:
    """A message, or an answer, was stored, written at its end."""

    id: str
    node: int
    stored_us: int
    ended_us: int
    ending: str
    """``sent``, ``expired`` or ``evicted``."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A gateway did not send a message, or an answer, whose lifetime was over."""

    id: str


@dataclass(frozen=True, slots=True)
class Held:
    """A message, or an answer, that was still somewhere at the end of the run."""

    id: str


@dataclass(frozen=True, slots=True)
class Round:
    """One gateway in a round of the PoA manager that acts."""

    number: int
    gateway: int
    """Its index."""
    nodes: int
    """Those that were told to move count at their target."""
    wanted: int | None
    """In(X); ``None`` if no move was considered."""
    score: float
    """W(X), smoothed."""
    given: int
    """Nodes that it was told to give away; ``taken``: that were told to move to it."""
    taken: int
    budget: int
    """Moves of all gateways in this round at most."""
    is_draining: bool


@dataclass(frozen=True, slots=True)
class Step:
    """What happened to a message of a traced node (``tracing``)."""

    id: str
    node: int
    place: str
    """Where: ``node-3``, or the name of a gateway, an application or a store."""
    step: str
    """One of ``tracing.STEPS``."""
    topic: str
    """To which it is written, or in which it was read; empty on a connection."""
    partition: int
    """Where it was read; -1 otherwise, as ``position``."""
    position: int
    appended_us: int
    """When the record that was read became durable; 0 otherwise."""
    detail: str


TABLES: Final[Mapping[str, type]] = {
    "planned": Planned,
    "absences": Absence,
    "repeated": Repeated,
    "unanswered": Unanswered,
    "shifted": Shifted,
    "contexts": ContextSet,
    "places": Placed,
    "casts": Cast,
    "stays": Stayed,
    "dropped": Dropped,
    "held": Held,
    "rounds": Round,
    "steps": Step,
}
row: Final = Rows(TABLES).row


def step(one: Stepped, place: str, wall_us: int) -> Step:
    """``wall_us``: Unix µs at the zero of the deployment."""
    return Step(
        one.id.hex(),
        int.from_bytes(one.node, "big"),
        place,
        one.step,
        one.topic,
        one.partition,
        one.position,
        one.appended_us - wall_us if one.appended_us else 0,
        one.detail,
    )


def entity(id: bytes, node: int, order: int) -> str:
    """What a ``Sample`` says of its message: its id, the node that it is from or for, and its order among those of
    this node and direction."""
    return f"{id.hex()}|{node}|{order}"


def read_entity(text: str) -> tuple[str, int, int]:
    """The id in hexadecimal digits, the node and the order."""
    id, node, order = text.split("|")
    return id, int(node), int(order)
