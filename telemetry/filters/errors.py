"""Errors of filters, with their position."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from overlay.core.errors import InvalidSetting


class InvalidFilter(InvalidSetting):
    """A filter that cannot be parsed, or uses an unknown field or value."""

    def __init__(self, position: int, sentence: str) -> None:
        super().__init__("filter", sentence)
        self.position = position
        """The position of the first wrong character: 0 to the text's length."""


class InvalidValue(Exception):
    """An invalid value of a field. The caller, which knows its position, raises ``InvalidFilter``."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: ``"; did you mean p95?"``, or empty if no known word is similar."""
    near = get_close_matches(word.lower()[:80], list(known), n=5, cutoff=0.5)
    near.sort(key=lambda one: sorted(one) != sorted(word.lower()))  # p59 is p95 with swapped characters, not p99
    return f"; did you mean {near[0]}?" if near else ""


def pointed(text: str, position: int) -> str:
    """Two lines for a terminal: the filter, and a caret below the error."""
    line = "".join(" " if letter.isspace() else letter for letter in text)
    return f"{line}\n{' ' * position}^"
