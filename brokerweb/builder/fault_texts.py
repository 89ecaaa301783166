"""The texts of a fault's inputs: targets, links and amounts. Counterpart: ``fault_forms``."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from math import isfinite
from typing import Any

from django.conf import settings

from brokerweb.kit import quantities
from overlay.core.errors import InvalidSetting
from overlay.core.processes import role_of
from overlay.core.settings import SettingInfo

TARGETS = ("brokers", "servers", "clients")
ONE_WAY = (">", "→")
_NAME = re.compile(r"[A-Za-z][\w-]*-\d{1,6}")
_SHARE = re.compile(r"[01]?\.\d{1,9}")
_RANGE = re.compile(r"(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?")
_PAIR = re.compile(rf"(\d{{1,6}}|{_NAME.pattern})\s*([-–>→])\s*(\d{{1,6}}|{_NAME.pattern})")


def ranges(servers: list[int | str]) -> str:
    return ", ".join(map(str, servers))


def pair(a: int | str, sign: str, b: int | str) -> str:
    """``0-1``, ``gateway-0 - log-0``."""
    return f"{a}{sign}{b}" if isinstance(a, int) and isinstance(b, int) else f"{a} {sign} {b}"


def text_of(value: bool | float | str | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def setting(name: str, info: SettingInfo, text: str) -> Any:
    """Integers stay integers; ranges are checked with the complete definition."""
    if info.kind == "text":
        return text
    if info.kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    found = number(name, text, unit_of(info))
    return int(found) if info.kind == "integer" and found == int(found) else found


def unit_of(info: SettingInfo) -> str:
    """The unit in which an amount may be entered, such as "20kB" for a rate."""
    return info.unit.removesuffix("/s")


def number(name: str, text: str, unit: str) -> float:
    if (quantity := quantities.read(text, unit)) is not None:
        return quantity
    with suppress(ValueError):
        if isfinite(found := float(text)):
            return found
    raise InvalidSetting(name, f"must be a number, not {text[:40]!r}" if text else "is required")


def targets(name: str, text: str, clients: Collection[str] = (), *, has_servers: bool = True) -> dict[str, Any]:
    """The fields of the targets, by number and name; names of these roles, and a share such as 0.1, are clients."""
    if clients and (_SHARE.fullmatch(text.strip()) or not has_servers):
        with suppress(ValueError):
            return {"clients": float(text)}
        if not text.strip():
            raise InvalidSetting(f"{name}.clients", "is required")
    numbers, names = _numbers_and_names(f"{name}.brokers", text, settings.MAX_BROKERS)
    of_clients = [one for one in names if role_of(one) in clients]
    servers = [one for one in names if one not in of_clients]
    found: dict[str, list[Any]] = {"brokers": numbers, "servers": servers, "clients": of_clients}
    return {place: ends for place, ends in found.items() if ends}


def _numbers_and_names(name: str, text: str, most: int) -> tuple[list[int], list[str]]:
    parts = [part.strip() for part in text.split(",")]
    names = [part for part in parts if _NAME.fullmatch(part)]
    others = [part for part in parts if not _NAME.fullmatch(part)]
    return (_brokers(name, ", ".join(others), most) if others else []), names


def islands(name: str, text: str) -> list[list[int | str]]:
    found: list[list[int | str]] = []
    left = settings.MAX_BROKERS
    for island in text.split("|"):
        numbers, names = _numbers_and_names(name, island, left)
        found.append([*numbers, *names])
        left -= len(found[-1])
    return found


def _brokers(name: str, text: str, most: int) -> list[int]:
    """Limited in number: a short range can stand for any number of brokers."""
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            sentence = f"must be brokers such as “3, 5-8”, not {text[:40]!r}"
            raise InvalidSetting(name, sentence if text else "is required")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InvalidSetting(name, f"{part.strip()!r} is not a range of brokers")
        if len(found) + last - first >= most:
            raise InvalidSetting(name, f"must name at most {settings.MAX_BROKERS:,} brokers")
        found += range(first, last + 1)
    return found


def links(name: str, text: str) -> list[list[int | str]]:
    found: list[list[int | str]] = []
    signs = set()
    for part in text.split(","):
        match = _PAIR.fullmatch(part.strip())
        if match is None:
            sentence = f"must be “all” or links such as “0-1, 1-2” (one-way: “0>1, 1>2”), not {text[:40]!r}"
            raise InvalidSetting(name, sentence if text else "is required")
        found.append([int(end) if end.isdecimal() else end for end in (match[1], match[3])])
        signs.add(match[2] in ONE_WAY)
    if len(signs) > 1:
        raise InvalidSetting(name, "cannot mix one-way and two-way links in one fault; add a second fault")
    return found
