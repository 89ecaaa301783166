"""Requests and answers without I/O. The synchronous and the asynchronous client send what is described here."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urljoin, urlsplit, urlunsplit

from waxwing.errors import ApiError, InvalidMessage, Redirected, UnexpectedAnswer, api_error
from waxwing.version import VERSION as PACKAGE

VERSION = "2026-11-28"
"""Of the API, as in ``API-Version``."""
JSON, YAML = "application/json", "application/yaml"
Query = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One request. It may be sent again after any failure if ``is_repeatable``."""

    method: str
    path: str
    """Absolute, percent-encoded, with its leading slash: ``/api/runs/``. After a redirect the complete URL."""
    query: Query = field(default_factory=dict)
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_repeatable(self) -> bool:
        """Whether doing it twice is the same as doing it once."""
        return self.method in ("GET", "HEAD", "OPTIONS") or "Idempotency-Key" in self.headers


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answered, with a status below 400."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes

    @property
    def data(self) -> Any:
        """The JSON of the body; ``None`` without a body. Raises ``UnexpectedAnswer`` for anything else."""
        try:
            return json.loads(self.content) if self.content else None
        except (ValueError, RecursionError):
            kind = self.headers.get("content-type", "nothing that is named").partition(";")[0]
            raise UnexpectedAnswer(f"The answer is {kind} and not JSON. Is it Waxwing that answers there?") from None

    @property
    def text(self) -> str:
        return self.content.decode()


def call(
    method: str,
    path: str,
    *,
    query: Query | None = None,
    body: Any = None,
    key: str | bool = False,
    headers: Mapping[str, str] | None = None,
) -> Call:
    """A request. ``body`` becomes JSON, text is sent as YAML. ``key``: its idempotency key, or True for a new one.

    Raises ``InvalidMessage`` for a body that no JSON can contain.
    """
    sent = {"Accept": JSON, "API-Version": VERSION, **(headers or {})}
    content = b""
    if body is not None:
        content = _encoded(body)
        sent.setdefault("Content-Type", YAML if isinstance(body, str) else JSON)
    if key:
        sent["Idempotency-Key"] = f'"{uuid.uuid4() if key is True else key}"'
    return Call(method, path, given(query or {}), content, sent)


def identity(token: str) -> dict[str, str]:
    """Headers of every request."""
    agent = {"User-Agent": f"waxwing-python/{PACKAGE}"}
    return {**agent, "Authorization": f"Bearer {token}"} if token else agent


def given(query: Query) -> dict[str, str]:
    """The parameters that are not ``None``, as text; lists are separated by commas."""
    return {name: _written(value) for name, value in query.items() if value is not None}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def _encoded(body: Any) -> bytes:
    try:
        return (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, allow_nan=False)).encode()
    except UnicodeEncodeError:
        raise InvalidMessage("the body is not Unicode text: it has half of a surrogate pair") from None
    except (ValueError, RecursionError):
        raise InvalidMessage("the body has a number that is not finite, or contains itself: JSON cannot") from None


def at(*parts: str | int) -> str:
    """The path of a resource, each part percent-encoded: ``at("runs", "a/b")`` is ``/api/runs/a%2Fb/``.

    Raises ``InvalidMessage`` for an empty part, which would make it the path of something else.
    """
    return "/api/" + "".join(f"{segment(str(part))}/" for part in parts)


def segment(text: str) -> str:
    """One part of a path. Dots alone, which clients and proxies resolve, are encoded as well."""
    if not text:
        raise InvalidMessage("an id or name is empty")
    try:
        return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")
    except UnicodeEncodeError:
        raise InvalidMessage(f"{text!r:.60} is not Unicode text: it has half of a surrogate pair") from None


def api_path(base: str, text: str) -> tuple[str, dict[str, str]]:
    """Path and parameters of an operation that someone typed: ``runs/``, ``/api/runs/?state=done``, or its URL.

    Raises ``InvalidMessage`` for an address of another server than ``base``.
    """
    parts = urlsplit(text)
    if parts.scheme in ("http", "https") and origin(text) != origin(base):
        raise InvalidMessage(f"{text} is not an address of {base}")
    path = f"/api/{parts.path.removeprefix('/api/').removeprefix('/')}"
    return path, dict(parse_qsl(parts.query, keep_blank_values=True))


MOST_REDIRECTS = 5


def moved(call: Call, url: str, status: int, location: str) -> Call:
    """What to send instead, after ``url`` answered ``call`` with a redirect.

    Raises ``Redirected`` if that would send the token elsewhere, or carry out a change twice.
    """
    try:
        there = urljoin(url, location)
    except ValueError:
        raise Redirected(f"{call.method} {url} was redirected to {location!r:.200}, which is no address") from None
    told = f"{call.method} {url} was redirected to {there} (status {status}), which was not followed: "
    if origin(there) != origin(url):
        raise Redirected(f"{told}the token is for this server only. If both are one, use the other address")
    if call.method not in ("GET", "HEAD"):
        raise Redirected(f"{told}only what reads is sent again")
    parts = urlsplit(there)
    return Call(call.method, urlunsplit((*urlsplit(url)[:2], parts.path, parts.query, "")), headers=call.headers)


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port (RFC 6454)."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:  # not a number: like nothing else
        port = -1
    return parts.scheme, parts.hostname or "", port or {"http": 80, "https": 443}.get(parts.scheme)


def check_stream(content_type: str) -> None:
    """Raises ``UnexpectedAnswer`` for what is no stream of events."""
    if content_type.partition(";")[0].strip().lower() != "text/event-stream":
        raise UnexpectedAnswer(f"The answer is {content_type or 'of no type'} and not a stream of events.")


def error_of(status: int, headers: Mapping[str, str], content: bytes, request: str = "") -> ApiError | None:
    """The error that an answer is; ``None`` below 400. ``request``: method and path."""
    if status < 400:
        return None
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = content.decode(errors="replace")
    return api_error(status, body, headers, request)
