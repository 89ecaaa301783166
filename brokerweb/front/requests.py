"""Requests as they arrive: what is read of them, and whether they are plain enough to be answered without Django.

Django redirects, combines headers, checks names of hosts and content types, and refuses; whatever would need that is
left to it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from rest_framework.exceptions import ParseError

from brokerweb.api.answers import VERSION, VERSION_HEADER
from brokerweb.front.service import BATCH, HEADERS, LIST, ONE, STREAM
from brokerweb.systems.contract import Key
from overlay.core.errors import InvalidSetting
from overlay.core.untrusted import Unreadable, read_json

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON = ("application/json", "application/json;charset=utf-8")
PARSED_HERE = 50_000
"""Bytes of a body that are parsed in the event loop; longer ones would hold up all other requests."""
METHODS = {ONE: ("GET", "HEAD", "PUT", "DELETE"), BATCH: ("POST",), LIST: ("GET", "HEAD"), STREAM: ("GET",)}
"""What is answered here, by what is named."""

_URL = re.compile(
    rb"/api/networks/([A-Za-z0-9_-]{1,20})/(?:(stream)|context(?:/(?:(batch)|([^/]+)/([^/]+)/([^/]+)))?)/"
)
WANTED = {name.encode() for name in HEADERS} | {
    b"authorization",
    b"cookie",
    b"host",
    b"content-type",
    b"accept",
    b"api-version",
    b"transfer-encoding",
}


class Target(NamedTuple):
    """What a URL names."""

    network: str
    kind: str
    """As in ``ContextRequest``."""
    key: Key | None = None


def target_of(scope: Scope) -> Target | None:
    """What the raw URL names; ``None`` for all that is no data plane, and for names that are not UTF-8.

    Decoded, an encoded slash in a name would look like a separator.
    """
    raw: bytes = scope.get("raw_path") or b""
    found = _URL.fullmatch(raw) if raw.startswith(b"/api/networks/") else None
    if found is None:
        return None
    network, is_stream, is_batch, *names = found.groups()
    kind = STREAM if is_stream else BATCH if is_batch else ONE if names[0] else LIST
    if scope["method"] not in METHODS[kind]:
        return None
    if kind != ONE:
        return Target(network.decode(), kind)
    try:
        first, second, third = (
            (unquote_to_bytes(name) if b"%" in name else name).decode() for name in names if name is not None
        )
    except UnicodeDecodeError:
        return None
    return Target(network.decode(), ONE, (first, second, third))


def parameters_of(query: bytes) -> Mapping[str, str] | None:
    """Those of the query; ``None`` if it cannot be read, or wants another format."""
    try:
        given = dict(parse_qsl(query.decode(), keep_blank_values=True))
    except (UnicodeDecodeError, ValueError):
        return None
    if given.pop("format", "json") != "json":
        return None
    return given


def is_answered_here(scope: Scope, headers: Mapping[str, str]) -> bool:
    """Whether Django would not redirect or refuse it, or combine headers."""
    has_body = scope["method"] in ("PUT", "POST")
    if has_body and headers.get("content-type", "").lower().replace(" ", "") not in JSON:
        return False
    return is_plain(scope, headers, WANTED, has_body=has_body or scope["method"] == "DELETE")


def is_plain(scope: Scope, headers: Mapping[str, str], wanted: Collection[bytes], *, has_body: bool) -> bool:
    """The same for all interfaces. ``headers``: those ``wanted``; ``has_body``: a body is read if there is one."""
    if sum(name in wanted for name, _ in scope["headers"]) > len(headers):
        return False
    if not has_body and any(name == b"transfer-encoding" for name, _ in scope["headers"]):
        return False
    if settings.SECURE_SSL_REDIRECT and scope.get("scheme") != "https":
        return False
    if headers.get(VERSION_HEADER.lower(), VERSION) != VERSION:
        return False
    return is_host(headers.get("host", ""), tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=64)
def is_host(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


async def body_of(receive: Receive) -> bytes | None:
    """``None`` if the client is gone, or is refused by the limits around."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def parsed(raw: bytes) -> Any:
    """As ``brokerweb.api.parsers`` does it. Raises ``ParseError``, ``InvalidSetting``."""
    if not raw:
        return {}
    try:
        return read_json(raw.decode())
    except UnicodeDecodeError:
        raise ParseError("The body is not valid utf-8 text.") from None
    except Unreadable as error:
        if error.field:
            raise InvalidSetting(error.field, f"The body {error}.") from None
        raise ParseError(f"The body {error}.") from None
