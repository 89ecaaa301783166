"""The description of a message: what reads and writes it, documents it, and shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overlay.messages.kinds import Kind


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    """Also that of the attribute of the message; empty for padding."""
    kind: Kind
    meaning: str
    """One sentence."""
    is_request: bool = False
    """Whether it is the number of a request, which errors of its message have."""


@dataclass(frozen=True, slots=True)
class Layout:
    code: int
    message: type[Any]
    way: str
    """Sender and receiver."""
    purpose: str
    fields: tuple[Field, ...]
    make: Callable[..., Any] | None = None
    """Makes a message of its fields; by default its class."""

    @property
    def name(self) -> str:
        return self.message.__name__
