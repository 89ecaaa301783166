"""Members that bodies of both standards have. Pure. Everything raises ``Problem``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brokerweb.ngsi.problems import unsupported, wrong
from brokerweb.ngsi.times import read_time
from brokerweb.notices.services import check_url
from overlay.core.errors import InvalidSetting, shown

MOST_NAMES = 100
MOST_ENTITIES = 100
MOST_THROTTLING_S = 86_400


def known(place: str, body: Mapping[str, Any], names: Sequence[str], refused: Sequence[str] = ()) -> None:
    """``refused``: members of the standard that have no counterpart here."""
    for name in body:
        if name in refused:
            raise unsupported(f"{place}{name}: is not supported.")
        if name not in names:
            raise wrong(f"{place}{shown(name, 40)} is unknown; known: {', '.join(names)}.")


def object_in(place: str, body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = body.get(name, {})
    if not isinstance(found, dict):
        raise wrong(f"{place}{name}: must be an object, not {shown(found)}.")
    return found


def list_in(place: str, body: Mapping[str, Any], name: str, most: int = MOST_NAMES) -> Sequence[Any]:
    found = body.get(name, [])
    if not isinstance(found, list) or len(found) > most:
        raise wrong(f"{place}{name}: must be a list of at most {most}, not {shown(found)}.")
    return found


def names_in(place: str, body: Mapping[str, Any], name: str) -> Sequence[str]:
    found = list_in(place, body, name)
    if not all(isinstance(one, str) and one for one in found):
        raise wrong(f"{place}{name}: must be names of attributes.")
    return found


def text_in(place: str, body: Mapping[str, Any], name: str, most: int = 1_000) -> str:
    found = body.get(name, "")
    if not isinstance(found, str) or len(found) > most:
        raise wrong(f"{place}{name}: must be a text of at most {most:,} characters, not {shown(found)}.")
    return found


def throttling_of(body: Mapping[str, Any]) -> float:
    found = body.get("throttling", 0)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= MOST_THROTTLING_S:
        raise wrong(f"throttling: must be seconds from 0 to {MOST_THROTTLING_S:,}, not {shown(found)}.")
    return float(found)


def expiry_of(body: Mapping[str, Any], name: str) -> int | None:
    """Unix milliseconds; ``None``: never."""
    found = body.get(name)
    if found in (None, ""):
        return None
    expires = read_time(found)
    if expires is None:
        raise wrong(f"{name}: must be a time such as 2030-01-31T12:00:00Z, not {shown(found)}.")
    return expires


def url_in(place: str, body: Mapping[str, Any], name: str) -> str:
    """An address that notifications may be sent to; names of hosts are checked at each delivery."""
    found = body.get(name)
    if not isinstance(found, str):
        raise wrong(f"{place}{name}: must be a URL, not {shown(found)}.")
    try:
        check_url(found)
    except InvalidSetting as refused:
        raise wrong(f"{place}{name}: {refused.sentence}.") from None
    return found
