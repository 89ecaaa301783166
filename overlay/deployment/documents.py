"""Checks of parts of a deployment's document: objects, numbers, positions, links and members. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from overlay.core.engines import Engine
from overlay.core.errors import InvalidSetting, shown, within
from overlay.core.links import LINK_SETTINGS, Link
from overlay.deployment.rollout import DRAINED, REMOVED
from overlay.load.assignment import Position
from overlay.systems.contract import System

FAR = 1e6
"""Positions are in the unit square. Positions drawn by hand may be outside, up to this."""
_LINK_FIELDS = {"a", "b", *(info.name for info in LINK_SETTINGS)}


def require_object(value: object, field: str) -> None:
    if not isinstance(value, Mapping):
        raise InvalidSetting(field, f"must be an object, not {shown(value)}")


def require_names(document: Mapping[str, Any], prefix: str, names: set[str], optional: Set[str] = frozenset()) -> None:
    for name in sorted(names - set(document)):
        raise InvalidSetting(f"{prefix}{name}", "is missing")
    known = names | optional
    for name in document:
        if name not in known:
            raise InvalidSetting(f"{prefix}{str(name)[:60]}", f"is unknown; known are {', '.join(sorted(known))}")


def one_of(document: Mapping[str, Any], field: str, choices: tuple[str, ...]) -> str:
    value = document[field]
    if value not in choices:
        raise InvalidSetting(field, f"must be one of {', '.join(choices)}, not {shown(value)}")
    return str(value)


def whole(value: object, field: str, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidSetting(field, f"must be a whole number, not {shown(value)}")
    if not low <= value <= high:
        raise InvalidSetting(field, f"must be from {low} to {high}, not {shown(value)}")
    return value


def positions(values: object, brokers: int) -> tuple[Position, ...] | None:
    if values is None:
        return None
    if not isinstance(values, list) or len(values) != brokers or not all(map(_is_position, values)):
        raise InvalidSetting("topology.positions", f"must be {brokers} pairs of numbers, one for each broker")
    return tuple((float(x), float(y)) for x, y in values)


def _is_position(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < FAR for one in value)
    )


def links(values: object, brokers: int, engine: Engine) -> tuple[Link, ...]:
    if not isinstance(values, list) or len(values) > engine.links:
        raise InvalidSetting("topology.links", f"must be a list of at most {engine.links} links")
    links = tuple(_link(value, f"topology.links.{i}", brokers) for i, value in enumerate(values))
    seen: set[tuple[int, int]] = set()
    for i, link in enumerate(links):
        if link.ends in seen:
            raise InvalidSetting(f"topology.links.{i}", f"brokers {link.a} and {link.b} are linked already")
        seen.add(link.ends)
    return links


def _link(value: object, field: str, brokers: int) -> Link:
    require_object(value, field)
    assert isinstance(value, Mapping)
    unknown = set(value) - _LINK_FIELDS
    if unknown or not {"a", "b"} <= set(value):
        known = ", ".join(info.name for info in LINK_SETTINGS)
        raise InvalidSetting(field, f"must have a and b, and may have {known}; not {shown(value)}")
    a, b = (whole(value[end], f"{field}.{end}", 0, brokers - 1) for end in ("a", "b"))
    if a == b:
        raise InvalidSetting(field, f"joins broker {a} to itself")
    link = Link(**value)
    with within(field):
        link.shape()
    return link


def members(
    values: object, system: System, servers: int, joined: tuple[Link, ...], *, is_run: bool
) -> tuple[tuple[int, str], ...]:
    require_object(values, "members")
    assert isinstance(values, Mapping)
    if values and (is_run or not system.can_shrink):
        raise InvalidSetting("members", f"must be empty: all servers of {system.title} run as long as it does")
    for index in values:
        if not (isinstance(index, str) and index.isascii() and index.isdigit() and int(index[:8]) < servers):
            raise InvalidSetting("members", f"has indices of servers, from 0 to {servers - 1}, not {shown(index)}")
        one_of(values, index, (DRAINED, REMOVED))
    found = {int(index): str(state) for index, state in values.items()}
    if found and len(found) == servers:
        raise InvalidSetting("members", "leaves no broker; stop the network instead")
    for at, link in enumerate(joined):
        if gone := [end for end in link.ends if found.get(end) == REMOVED]:
            raise InvalidSetting(f"topology.links.{at}", f"names broker {gone[0]}, which is removed")
    return tuple(sorted(found.items()))
