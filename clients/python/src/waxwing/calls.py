"""Requests and answers without I/O. The synchronous and the asynchronous client send what is described here."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from waxwing.errors import ApiError, api_error

VERSION = "2026-11-28"
"""Of the API, as in ``API-Version``."""
JSON, YAML = "application/json", "application/yaml"
Query = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One request. It may be sent again after any failure if ``is_repeatable``."""

    method: str
    path: str
    """Absolute, percent-encoded, with its leading slash: ``/api/runs/``."""
    query: Query = field(default_factory=dict)
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

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
        """The JSON of the body; ``None`` without a body."""
        return json.loads(self.content) if self.content else None

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
    """A request. ``body`` becomes JSON, text is sent as YAML. ``key``: its idempotency key, or True for a new one."""
    sent = {"Accept": JSON, "API-Version": VERSION, **(headers or {})}
    content = b""
    if body is not None:
        content = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
        sent.setdefault("Content-Type", YAML if isinstance(body, str) else JSON)
    if key:
        sent["Idempotency-Key"] = f'"{uuid.uuid4() if key is True else key}"'
    return Call(method, path, given(query or {}), content, sent)


def given(query: Query) -> dict[str, str]:
    """The parameters that are not ``None``, as text; lists are separated by commas."""
    return {name: _written(value) for name, value in query.items() if value is not None}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def at(*parts: str | int) -> str:
    """The path of a resource, each part percent-encoded: ``at("runs", "a/b")`` is ``/api/runs/a%2Fb/``."""
    return "/api/" + "".join(f"{quote(str(part), safe='')}/" for part in parts)


def error_of(status: int, headers: Mapping[str, str], content: bytes) -> ApiError | None:
    """The error that an answer is; ``None`` below 400."""
    if status < 400:
        return None
    try:
        body = json.loads(content)
    except ValueError:
        body = content.decode(errors="replace")
    return api_error(status, body, headers)
