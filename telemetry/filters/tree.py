"""The tree of a filter. ``parse(str(tree)) == tree``."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "~")
"""``~`` means contains."""
ORDERED = ("<", "<=", ">", ">=")
KEYWORDS = ("and", "or", "not", "in")
WORD = r"(?:[^\s()\"',=<>~!≤≥≠]|!(?!=))(?:[^\s()\",=<>~!≤≥≠]|!(?!=))*"
"""Text without quotation marks; an apostrophe may be in the middle of a word."""

_PLAIN = re.compile(f"{WORD}(?: {WORD})*")


def quoted(text: str) -> str:
    """``text`` in a filter, with quotation marks if necessary."""
    is_plain = _PLAIN.fullmatch(text) and not any(word.lower() in KEYWORDS for word in text.split(" "))
    if is_plain:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Everything:
    """The empty filter."""

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Words:
    """Words alone, which search names."""

    text: str
    at: int = dataclasses.field(default=0, compare=False)

    def __str__(self) -> str:
        return quoted(self.text)


@dataclass(frozen=True, slots=True)
class Comparison:
    """``field op value``."""

    field: str
    op: str
    value: str
    at: int = dataclasses.field(default=0, compare=False)
    """The position of the field in the text."""
    value_at: int = dataclasses.field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.field} {self.op} {quoted(self.value)}"


@dataclass(frozen=True, slots=True)
class Among:
    """``field in (value, …)``."""

    field: str
    values: tuple[str, ...]
    at: int = dataclasses.field(default=0, compare=False)
    values_at: tuple[int, ...] = dataclasses.field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.field} in ({', '.join(quoted(value) for value in self.values)})"

    def comparisons(self) -> list[Comparison]:
        """The same as separate comparisons, any of which may be true."""
        places = self.values_at or (self.at,) * len(self.values)
        pairs = zip(self.values, places, strict=True)
        return [Comparison(self.field, "=", value, self.at, value_at) for value, value_at in pairs]


@dataclass(frozen=True, slots=True)
class Not:
    part: Node

    def __str__(self) -> str:
        return f"not {_inner(self.part)}"


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Node, ...]
    """Two or more."""

    def __str__(self) -> str:
        return " and ".join(_inner(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Node, ...]
    """Two or more."""

    def __str__(self) -> str:
        return " or ".join(_inner(part) for part in self.parts)


Node = Everything | Words | Comparison | Among | Not | And | Or


def _inner(part: Node) -> str:
    return f"({part})" if isinstance(part, And | Or) else str(part)
