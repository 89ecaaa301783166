"""The types of fields in addition to those of ``overlay.messages.kinds``: filters, functions of context, values, ids.

The limits of content and of functions are those of ``content`` and ``scope``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overlay.core.errors import shown
from overlay.messages.errors import BadMessage, Reason, refuse
from overlay.messages.kinds import Kind, U, elements, listed, text, unsigned
from overlay.systems.silbops.content.filters import (
    MAX_CONSTRAINTS,
    MAX_SIENA_CONSTRAINTS,
    read_filter,
    written_filter,
)
from overlay.systems.silbops.content.values import MAX_ATTRIBUTES, InvalidContent, checked_name, checked_values
from overlay.systems.silbops.scope.tree import MAX_NODES, InvalidScope, read
from overlay.systems.silbops.tables.rows import Key

OWNER_BYTES = 16
"""Of the ids of clients and owners."""
MAX_WORDS = 200
"""Bytes of the reason in a refusal."""
MAX_TTL_MS = 86_400_000


def _owner(value: Any) -> bytes:
    if type(value) is not bytes or len(value) != OWNER_BYTES:
        refuse(Reason.TYPE, f"{shown(value)} is no id of {OWNER_BYTES} bytes")
    return value


def _key(value: Any) -> Key:
    owner, number = elements(value, 2, 2)
    return Key(_owner(owner), unsigned(number))


def _ttl(value: Any) -> int:
    if unsigned(value) > MAX_TTL_MS:
        refuse(Reason.RANGE, f"{value:,} ms are longer than a day")
    return int(value)


def _content(read_one: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``read_one`` with the error of messages."""

    def read_content(value: Any) -> Any:
        try:
            return read_one(value)
        except InvalidContent as error:
            raise BadMessage(Reason.LIMIT if error.is_limit else Reason.RANGE, error.sentence) from None

    return read_content


def _function(value: Any) -> Any:
    try:
        return read(value)
    except InvalidScope as error:
        raise BadMessage(Reason.EXPRESSION, error.sentence) from None


def _no_function(value: Any) -> Any:
    refuse(Reason.EXPRESSION, "the siena arm has no functions of context")


def _names(value: Any) -> frozenset[str]:
    names = elements(value, 0, MAX_ATTRIBUTES)
    return frozenset([_content(checked_name)(name) for name in names])


OWNER = Kind(f"{OWNER_BYTES} bytes", _owner)
KEY = Kind("*key*", _key, parts=(("owner", OWNER), ("number", U)))
NAMES = Kind(f"array of 0 to {MAX_ATTRIBUTES} names", _names, sorted)
IDS = listed(U, 1)
TTL = Kind("unsigned, ms, at most a day", _ttl)
WORDS = text(MAX_WORDS)


def _filter(most: int, *, is_siena: bool) -> Kind:
    return Kind(
        f"*filter* of at most {most} constraints",
        _content(lambda value: read_filter(value, is_siena=is_siena)),
        written_filter,
    )


def _values(fewest: int, most: int, *, is_siena: bool) -> Kind:
    return Kind(
        f"map of {fewest} to {most} names and values",
        _content(lambda value: checked_values(value, fewest=fewest, is_siena=is_siena)),
        lambda values: dict(sorted(values.items())),
    )


@dataclass(frozen=True, slots=True)
class Content:
    """The kinds that differ between the arms: in ``siena``, names may begin with ``@``, there are more of them, and no
    functions of context."""

    filter: Kind
    notification: Kind
    function: Kind


CONTEXT = _values(0, MAX_ATTRIBUTES, is_siena=False)
SILBOPS = Content(
    _filter(MAX_CONSTRAINTS, is_siena=False),
    _values(1, MAX_ATTRIBUTES, is_siena=False),
    Kind(f"*function* of at most {MAX_NODES} nodes", _function),
)
SIENA = Content(
    _filter(MAX_SIENA_CONSTRAINTS, is_siena=True),
    _values(1, 2 * MAX_ATTRIBUTES, is_siena=True),
    Kind("no function", _no_function),
)


def _context_or_version(value: Any) -> Any:
    return unsigned(value) if type(value) is int else CONTEXT.read(value)


CONTEXT_OR_VERSION = Kind(
    f"{CONTEXT.words}, or the version of one that was told",
    _context_or_version,
    lambda value: value if type(value) is int else CONTEXT.write(value),
)
