"""What a system declares of its messages on the channel. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from brokerweb.wirelab.lab import Blank, Dissection


@dataclass(frozen=True, slots=True)
class Described:
    """Implements ``lab.Message``."""

    code: int
    name: str
    way: str
    purpose: str
    changes: str = ""
    short: str = ""

    def __post_init__(self) -> None:
        if not self.short:
            object.__setattr__(self, "short", self.name)


class Messages(ABC):
    """The messages of one system, without the channel. Their codes are below ``lab.CHANNEL``."""

    @property
    @abstractmethod
    def all(self) -> Collection[Described]: ...

    @abstractmethod
    def code_of(self, message: bytes) -> int | None:
        """The code that it begins with; ``None`` if it is none that is known."""

    @abstractmethod
    def dissect(self, message: bytes, now_ms: int) -> Dissection:
        """As ``Lab.decode``."""

    @abstractmethod
    def summary(self, message: bytes) -> str:
        """As ``Lab.summary``."""

    @abstractmethod
    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        """As ``Lab.blanks``."""

    @abstractmethod
    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        """As ``Lab.compose``."""

    @abstractmethod
    def given(self, message: bytes) -> Mapping[str, str] | None:
        """As ``Lab.given``."""
