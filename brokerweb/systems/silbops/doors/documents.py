"""What bodies say, checked. Pure; raises ``InvalidSetting``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.core.settings import InvalidText
from overlay.systems.silbops.content.filters import read_filter, written_filter
from overlay.systems.silbops.content.values import InvalidContent, Value, checked_values
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.scope.tree import SUBSCRIBER, InvalidScope, names


def values_of(field: str, value: Any, *, fewest: int = 0) -> dict[str, Value]:
    """Attributes of a notification, or a context."""
    try:
        return dict(checked_values(value, fewest=fewest))
    except InvalidContent as error:
        raise InvalidSetting(field, error.sentence) from None


def where_of(value: Any) -> list[list[Any]]:
    """A filter, in its order."""
    try:
        return written_filter(read_filter(value))
    except InvalidContent as error:
        raise InvalidSetting("where", error.sentence) from None


def scope_of(text: str) -> str:
    """A function of context, as it was written; empty: none."""
    if text := text.strip():
        _parsed(text)
    return text


def read_by(scope: str) -> frozenset[str]:
    """The variables of subscribers that a checked function reads."""
    return names(_parsed(scope), SUBSCRIBER) if scope else frozenset()


def publication_of(body: Mapping[str, Any]) -> tuple[dict[str, Value], dict[str, Value] | None, str]:
    """``notification``, ``context`` (``None``: not given), ``scope``."""
    notification = values_of("notification", body["notification"], fewest=1)
    context = values_of("context", body["context"]) if "context" in body else None
    return notification, context, scope_of(body.get("scope", ""))


def _parsed(text: str) -> Any:
    try:
        return parse(text)
    except InvalidText as error:
        raise InvalidSetting("scope", f"{error} (character {error.at + 1})") from None
    except InvalidScope as error:
        raise InvalidSetting("scope", error.sentence) from None
