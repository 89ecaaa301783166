"""One client of a broker.

::

               session lost, or detached            keep_s
    ATTACHED ─────────────────────────────> AWAY ─────────> gone
       ^ │ ^                                 │ │
       │ │ └───────── ATTACH resume ─────────┘ │ MOVE
       │ └─ MOVE ─> LEAVING ─ session closed ──┴─> TAKE to the new broker; its rows stay on a moved link for handover_s
       └─ ATTACH new
"""

from __future__ import annotations

from enum import IntEnum

from overlay.core.hashes import blake2b
from overlay.systems.silbops.broker.kept import Kept
from overlay.systems.silbops.repeats import Repeats
from overlay.systems.silbops.tables import Advertisement, Key, Kind, Link
from overlay.systems.silbops.wire.messages import Client as Id

SUBSCRIPTIONS, ADVERTISEMENTS = 0, 1
"""The tables, in deadlines."""


class State(IntEnum):
    ATTACHED = 0
    AWAY = 1
    LEAVING = 2
    """Another broker has asked for it; its session is being closed."""


class Client:
    __slots__ = (
        *(
            "advertisements",
            "away_at",
            "came_from",
            "id",
            "kept",
            "last",
            "link",
            "moves_to",
            "name",
            "owner",
            "publisher",
        ),
        *("renewed_at", "repeats", "state", "subscriptions", "validity"),
    )

    def __init__(self, id: Id, owner: bytes, keep: int) -> None:
        self.id, self.owner, self.name = id, owner, id.hex()
        self.publisher = publisher_key(owner)
        self.link = Link(Kind.CLIENT, self.name)
        self.state = State.AWAY
        self.away_at = 0
        """When it left last, ns of its broker."""
        self.subscriptions: dict[int, None] = {}
        self.advertisements: dict[int, Advertisement] = {}
        self.validity: dict[tuple[int, int], int] = {}
        """Of subscriptions and advertisements that have one, by table and id, ns."""
        self.renewed_at = 0
        self.kept = Kept(keep)
        self.repeats: Repeats | None = None
        """If it came from another broker, which may bring notifications again."""
        self.last = 0
        """The number of its last publication. They rise, so what is not above was here before."""
        self.came_from: str | None = None
        self.moves_to: str | None = None
        """While leaving."""

    def key(self, number: int) -> Key:
        return Key(self.owner, number)


def publisher_key(owner: bytes) -> int:
    """What clients are told of a publisher."""
    return int.from_bytes(blake2b(owner, digest_size=8).digest(), "big")
