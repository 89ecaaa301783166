"""Fields that many messages have, and the three kinds of values that depend on the encoding of a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overlay.messages.kinds import Kind, U, choice
from overlay.messages.layouts import Field
from overlay.systems.federation.wire.composites import ADVERTISEMENT, SUBSCRIPTION
from overlay.systems.federation.wire.messages import Whole
from overlay.systems.federation.wire.notes import NOTIFICATION
from overlay.systems.federation.wire.passing import Publication

CLIENT, BROKER, SERVICE = "client", "broker", "registration service"


@dataclass(frozen=True, slots=True)
class Values:
    """The kinds of the three values that a network can have as ContextML."""

    subscription: Kind = SUBSCRIPTION
    notification: Kind = NOTIFICATION
    advertisement: Kind = ADVERTISEMENT
    publication: Callable[..., Any] = Publication
    """Made of what ``notification`` reads: of no ``Publication`` where that is only checked, and stays a text."""


REQ = Field("req", U, "Number of the request at its sender; 0 asks for no answer.", is_request=True)
HOPS = Field("hops", U, "Links between brokers that it has passed.")
WHOLE = Field("whole", choice(Whole), "Changes, a complete table, or a part of one.")
