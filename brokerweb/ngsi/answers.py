"""Answers of both standards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JSON, LD_JSON, TEXT = "application/json", "application/ld+json", "text/plain"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes = b""
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(status: int, body: Any, headers: Mapping[str, str] | None = None, media_type: str = JSON) -> Answer:
    """``body`` is JSON."""
    return Answer(status, encoded(body), media_type, headers or {})


def encoded(body: Any) -> bytes:
    return _ENCODER.encode(body).encode()


def nothing(status: int = 204, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, headers=headers or {})
