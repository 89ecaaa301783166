"""Definitions in files, as YAML or JSON. Pure; the callers read and write the files."""

from __future__ import annotations

from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.core.untrusted import Unreadable, read_json
from overlay.core.untrusted_yaml import read_yaml

MAX_BYTES = 5_000_000
"""Maximum size. A topology with 100,000 links takes half of it."""


def parse_definition(data: bytes, *, is_json: bool = False) -> dict[str, Any]:
    """Parse ``data`` to an object of JSON types. Raises ``InvalidSetting`` for the field ``spec``."""
    if len(data) > MAX_BYTES:
        raise InvalidSetting("spec", f"has more than {MAX_BYTES:,} bytes, the maximum")
    try:
        text = data.decode()
        plain = read_json(text) if is_json else read_yaml(text)
    except UnicodeDecodeError as error:
        raise InvalidSetting("spec", f"is not text in UTF-8: {error.reason} at byte {error.start}") from None
    except Unreadable as error:
        raise InvalidSetting("spec", str(error)) from None
    if not isinstance(plain, dict):
        raise InvalidSetting("spec", "must be one object of names and values")
    return plain
