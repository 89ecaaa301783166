"""Bootstrap lists as arguments: a file, a URL, or addresses (``--bootstrap``). Shared by commands of all systems.

A list is text with one ``host:port`` a line, or the JSON of ``GET /api/networks/{id}/bootstrap/``, of which the healthy
brokers count.
"""

from __future__ import annotations

import http.client
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from overlay.core.addresses import Address, parse_address
from overlay.core.errors import WaxwingError, WireError

HELP = (
    "bootstrap list in place of the address of a broker: a file with one HOST:PORT a line, a URL (with the token in "
    "WAXWING_TOKEN, if there is one), or HOST:PORT,HOST:PORT"
)
TOKEN = "WAXWING_TOKEN"  # noqa: S105  the name of a variable
MOST_BYTES = 1_000_000
TIMEOUT_S = 10.0
RENEW_S = 30.0
"""When a list that does not say it is read again."""
AGAIN_S = 5.0
"""When one that could not be read is."""


class BadList(WaxwingError):
    """A bootstrap list cannot be read."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that was read."""

    brokers: tuple[Address, ...]
    renew_after_s: float = RENEW_S


@dataclass(frozen=True, slots=True)
class Source:
    """Where a list comes from. ``fixed`` is one that was given as addresses."""

    text: str
    fixed: Listed | None = None

    def read(self) -> Listed:
        """Takes up to ``TIMEOUT_S``. Raises ``BadList``."""
        if self.fixed is not None:
            return self.fixed
        return parse_list(_fetched(self.text) if _is_url(self.text) else _file(self.text))


def source_of(text: str) -> Source:
    """From the argument. Raises ``BadList`` if it has neither addresses nor the name of a file or URL."""
    if not text.strip():
        raise BadList("a bootstrap list is a file, a URL or HOST:PORT,HOST:PORT")
    if _is_url(text) or Path(text).exists():
        return Source(text)
    try:
        return Source(text, Listed(parse_addresses(text)))
    except WireError as error:
        raise BadList(f"{text[:60]!r} is no file, no URL and no list of addresses: {error}") from None


def parse_addresses(text: str) -> tuple[Address, ...]:
    """``HOST:PORT,HOST:PORT``. Raises ``WireError``."""
    return tuple(dict.fromkeys(map(_address, text.split(","))))


def parse_list(data: bytes) -> Listed:
    """Raises ``BadList``, which names the first line or field that is wrong."""
    if len(data) > MOST_BYTES:
        raise BadList(f"the list has more than {MOST_BYTES:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadList("the list is not UTF-8 text") from None
    return _parse_json(text) if text.lstrip().startswith("{") else Listed(_parse_lines(text))


def _parse_lines(text: str) -> tuple[Address, ...]:
    brokers = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                brokers.append(_address(line))
            except WireError as error:
                raise BadList(f"line {number}: {error}") from None
    return tuple(dict.fromkeys(brokers))


def _parse_json(text: str) -> Listed:
    try:
        found: Any = json.loads(text)
        brokers = [one["address"] for one in found["brokers"] if one.get("health", "healthy") == "healthy"]
        after = float(found.get("renew_after_s", RENEW_S))
        return Listed(tuple(dict.fromkeys(map(_address, brokers))), min(max(after, 1.0), 3600.0))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadList(f"the list is not the JSON of a bootstrap list: {type(error).__name__} {error}") from None
    except WireError as error:
        raise BadList(f"the list has a wrong address: {error}") from None


def _address(text: str) -> Address:
    text = text.strip()
    return parse_address(f"127.0.0.1{text[9:]}" if text.startswith("localhost:") else text)


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _file(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadList(f"cannot read {name}: {error.strerror}") from None


def _fetched(url: str) -> bytes:
    token = os.environ.get(TOKEN)
    try:
        request = Request(url)  # noqa: S310  http(s) only
        if token:
            request.add_unredirected_header("Authorization", f"Bearer {token}")
        with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
            data: bytes = answer.read(MOST_BYTES + 1)
            return data
    except (URLError, OSError, ValueError, http.client.HTTPException) as error:
        hint = f"; set {TOKEN} to a token that may read the network" if getattr(error, "code", 0) == 401 else ""
        raise BadList(f"cannot fetch {url}: {getattr(error, 'reason', error)}{hint}") from None
