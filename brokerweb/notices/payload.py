"""Body and signature of webhooks. Pure; documented in ``docs/operating.md``."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

SIGNATURE = "X-Waxwing-Signature"
EVENT = "X-Waxwing-Event"
DELIVERY = "X-Waxwing-Delivery"


def body(notice: Mapping[str, Any], public_url: str) -> bytes:
    """The JSON of a notice: ``{id, event, title, text, url, at, facts}``."""
    told = {name: notice[name] for name in ("id", "event", "title", "text")}
    told |= {"url": f"{public_url}{notice['path']}", "at": notice["at"], "facts": notice["facts"]}
    return json.dumps(told, ensure_ascii=False).encode()


def headers(data: bytes, event: str, delivery: str, secret: str, version: str) -> dict[str, str]:
    """HTTP headers for ``data``; with a signature if there is a secret."""
    found = {
        "Content-Type": "application/json",
        "User-Agent": f"Waxwing/{version}",
        EVENT: event,
        DELIVERY: delivery,
    }
    return {**found, SIGNATURE: signature(data, secret)} if secret else found


def signature(data: bytes, secret: str) -> str:
    """``sha256=`` and the hexadecimal HMAC-SHA-256 of the body's bytes."""
    return f"sha256={hmac.new(secret.encode(), data, hashlib.sha256).hexdigest()}"
