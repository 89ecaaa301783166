"""Parsers of request bodies."""

from typing import IO, Any

from django.conf import settings
from rest_framework import parsers
from rest_framework.exceptions import ParseError

from brokerweb.definitions import documents
from overlay.core.errors import InvalidSetting
from overlay.core.untrusted import Unreadable, read_json

YAML = "application/yaml"


class JSONParser(parsers.JSONParser):
    """JSON within the limits of ``overlay.core.untrusted``. Raises ``ParseError`` or ``InvalidSetting``."""

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        encoding = (parser_context or {}).get("encoding", settings.DEFAULT_CHARSET)
        try:
            return read_json(stream.read().decode(encoding))
        except (UnicodeDecodeError, LookupError):
            raise ParseError(f"The body is not valid {encoding:.40} text.") from None
        except Unreadable as error:
            if error.field:
                raise InvalidSetting(error.field, f"The body {error}.") from None
            raise ParseError(f"The body {error}.") from None


class YAMLParser(parsers.BaseParser):
    """A YAML document, as read by ``python -m telemetry sweep``."""

    media_type = YAML

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises ``InvalidSetting`` for the field ``document``, with line and column."""
        return documents.read(stream.read(documents.MOST_BYTES + 1))
