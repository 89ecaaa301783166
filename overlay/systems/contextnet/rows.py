"""What clients and servers report of a run, with samples and events, as rows of ``TABLES``, for its measures.

Counterparts: the clients in ``load`` and the store write them, ``measuring`` reads them. Times ``*_us`` are µs since
the zero of the deployment. Ids of messages are in hexadecimal digits; nodes have their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from overlay.journal.own_rows import Rows


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
class Held:
    """A message, or an answer, that was still somewhere at the end of the run."""

    id: str


TABLES: Final[Mapping[str, type]] = {
    "planned": Planned,
    "absences": Absence,
    "repeated": Repeated,
    "shifted": Shifted,
    "contexts": ContextSet,
    "casts": Cast,
    "stays": Stayed,
    "held": Held,
}
row: Final = Rows(TABLES).row


def entity(id: bytes, node: int, order: int) -> str:
    """What a ``Sample`` says of its message: its id, the node that it is from or for, and its order among those of
    this node and direction."""
    return f"{id.hex()}|{node}|{order}"


def read_entity(text: str) -> tuple[str, int, int]:
    """The id in hexadecimal digits, the node and the order."""
    id, node, order = text.split("|")
    return id, int(node), int(order)
