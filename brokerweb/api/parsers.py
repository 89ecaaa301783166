"""How a request's body is read."""

from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError

from brokerweb.definitions import documents

YAML = "application/yaml"
MAX_DEPTH = 32
"""The deepest body that means something has five levels; what walks one may recurse."""


class JSONParser(parsers.JSONParser):
    """JSON that can be stored and shown again: not nested without end, and text that is Unicode."""

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            body = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        _check(body)
        return body


class YAMLParser(parsers.BaseParser):
    """A document as ``python -m telemetry sweep`` reads it."""

    media_type = YAML

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises ``InvalidSetting`` of the field ``document``, with line and column."""
        return documents.read(stream.read(documents.MOST_BYTES + 1))


def _check(body: Any) -> None:
    """Raises ``ParseError`` for half a surrogate pair (``"\\ud800"``), which JSON can write and UTF-8 cannot."""
    level = [body]
    for _ in range(MAX_DEPTH):
        if any(isinstance(one, str) and _half(one) for one in level):
            raise ParseError("The body has half a surrogate pair in a text, which is no character.")
        inner = [child for one in level for child in _children(one)]
        if not inner:
            return
        level = inner
    raise ParseError(f"The body is nested too deeply: more than {MAX_DEPTH} levels.")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _half(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
