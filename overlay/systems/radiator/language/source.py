"""Text to a syntax tree within the limits, and errors that point at a character."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from overlay.core.errors import InvalidSetting
from overlay.core.settings import InvalidText

MAX_CHARACTERS = 2_000
MAX_NODES = 500
"""Maximum expressions in a text, each constant, name and attribute included."""
MAX_DEPTH = 50
"""Maximum nesting of expressions."""
_NEWLINE = re.compile(r"\r\n|\r|\n")


class InvalidExpression(InvalidSetting, InvalidText):
    """A text that is refused, with the position of the first wrong character.

    As an ``InvalidText`` it is what the language of a setting raises; ``sentence`` has no position.
    """

    def __init__(self, field: str, text: str, at: int, sentence: str) -> None:
        before = _NEWLINE.split(text[:at])
        self.line = len(before)
        """From 1."""
        self.column = len(before[-1]) + 1
        """From 1, in characters."""
        # Both bases have the same base, and each takes other arguments.
        ValueError.__init__(self, f"{field}: line {self.line}, column {self.column}: {sentence}")
        self.field = field
        self.at = at
        """Position in the text, from 0 to its length."""
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Source:
    """The characters ``start`` to ``end`` of the text of a setting."""

    field: str
    """The setting's name, for errors."""
    text: str
    start: int = 0
    end: int = MAX_CHARACTERS

    def error(self, offset: int, sentence: str) -> InvalidExpression:
        return InvalidExpression(self.field, self.text, min(offset, len(self.text)), sentence)

    def at(self, node: ast.expr, sentence: str) -> InvalidExpression:
        return self.error(self.offset(node), sentence)

    def offset(self, node: ast.expr) -> int:
        """The position of the first character of ``node`` in the text."""
        line = _NEWLINE.split(self._code()[0])[node.lineno - 1]
        column = len(line.encode()[: node.col_offset].decode(errors="replace"))  # nodes count bytes
        return self._position(node.lineno, column)

    def parse(self) -> ast.expr:
        """Its syntax tree, within the limits. Raises ``InvalidExpression``."""
        if len(self.text) > MAX_CHARACTERS:
            sentence = f"the text has {len(self.text):,} characters; at most {MAX_CHARACTERS:,} are accepted"
            raise self.error(MAX_CHARACTERS, sentence)
        if not self._part.strip():
            raise self.error(self.start, "an expression is missing")
        tree = self._parsed()
        self._check_limits(tree)
        return tree

    @property
    def _part(self) -> str:
        return self.text[self.start : self.end]

    def _code(self) -> tuple[str, int]:
        """What Python parses, and the position in the text of its first character.

        Several lines are put in parentheses, which lets an expression continue on the next line.
        """
        part = self._part
        stripped = part.strip()
        if _NEWLINE.search(stripped):
            return f"({part}\n)", self.start - 1
        return stripped, self.start + len(part) - len(part.lstrip())

    def _parsed(self) -> ast.expr:
        code, _ = self._code()
        try:
            tree = ast.parse(code, mode="eval").body
        except SyntaxError as error:
            offset = self._position(error.lineno or 1, (error.offset or 1) - 1)
            raise self.error(offset, f"this is not an expression: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError):
            raise self.error(self.start, "it is nested too deep, or has characters that are not text") from None
        if code[0] == "(" and code[-2:] == "\n)" and (tree.lineno, tree.col_offset) == (1, 0):
            # The text closes the parenthesis in which it was put, or is a tuple or a loop, which begin with theirs.
            raise self.error(self.start, "one expression is expected here, in balanced parentheses")
        return tree

    def _position(self, line: int, column: int) -> int:
        """In the text; ``line`` from 1 and ``column`` from 0 are characters of what Python parses."""
        code, shift = self._code()
        starts = [0, *(match.end() for match in _NEWLINE.finditer(code))]
        offset = shift + starts[min(line, len(starts)) - 1] + column
        return max(self.start, min(offset, self.start + len(self._part)))

    def _check_limits(self, tree: ast.expr) -> None:
        nodes = 0
        unseen = [(tree, 1)]
        while unseen:
            node, depth = unseen.pop()
            nodes += 1
            if nodes > MAX_NODES:
                raise self.at(node, f"the text has more than {MAX_NODES} parts")
            if depth > MAX_DEPTH:
                raise self.at(node, f"it is nested more than {MAX_DEPTH} deep")
            inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
            unseen.extend((one, depth + 1) for one in reversed(inner))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: ``"; did you mean round?"``, or empty."""
    from difflib import get_close_matches  # only for errors

    near = get_close_matches(word[:80], list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""
