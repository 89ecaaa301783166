"""What the library reports, in one ordered list."""

from __future__ import annotations

from typing import NamedTuple

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.wire.messages import Code


class Connected(NamedTuple):
    """A broker serves the client."""

    broker: str
    is_resumed: bool
    """Whether the broker knew what the client had set. If not, it was told."""


class Lost(NamedTuple):
    """The session has ended; the library attaches again by itself."""

    broker: str
    reason: str
    """Of the channel, ``silent``, or the name of the code that refused it, such as ``limit``."""


class Detached(NamedTuple):
    """After ``detach``."""

    broker: str


class GaveUp(NamedTuple):
    """No broker could be reached for so long that the library no longer tries. ``attach`` begins again."""

    broker: str


class Accepted(NamedTuple):
    """A call has taken effect at the broker."""

    call: int


class Rejected(NamedTuple):
    """A call, or a publication, was refused, by the library or by the broker."""

    call: int
    code: Code
    words: str


class Unanswered(NamedTuple):
    """The client has detached or given up before the broker answered a call."""

    call: int


class Notified(NamedTuple):
    """A notification has come."""

    publisher: int
    """Its key. The publisher itself is not told it."""
    number: int
    """Of the publication, at its publisher."""
    notification: Values
    ids: tuple[int, ...]
    """Of the subscriptions that it satisfies, in order."""


Event = Connected | Lost | Detached | GaveUp | Accepted | Rejected | Unanswered | Notified
