"""The description of a message, and the three kinds of values that depend on the encoding of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overlay.systems.federation.wire.composites import ADVERTISEMENT, SUBSCRIPTION
from overlay.systems.federation.wire.kinds import Kind, U, choice
from overlay.systems.federation.wire.messages import Whole
from overlay.systems.federation.wire.notes import NOTIFICATION

CLIENT, BROKER, SERVICE = "client", "broker", "registration service"


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    """Also that of the attribute of the message; empty for padding."""
    kind: Kind
    meaning: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Layout:
    code: int
    message: type[Any]
    way: str
    """Sender and receiver."""
    purpose: str
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        return self.message.__name__


@dataclass(frozen=True, slots=True)
class Values:
    """The kinds of the three values that a network can have as ContextML."""

    subscription: Kind = SUBSCRIPTION
    notification: Kind = NOTIFICATION
    advertisement: Kind = ADVERTISEMENT


REQ = Field("req", U, "Number of the request at its sender; 0 asks for no answer.")
HOPS = Field("hops", U, "Links between brokers that it has passed.")
WHOLE = Field("whole", choice(Whole), "Changes, a complete table, or a part of one.")
