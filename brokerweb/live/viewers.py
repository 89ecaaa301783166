"""Who opens a websocket: a browser with its session, or a program with a token, as everywhere in REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import ParseResult

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.security.websocket import OriginValidator
from rest_framework.exceptions import AuthenticationFailed

from brokerweb.api.auth import BearerAuthentication

PREFIX = b"bearer "


class OwnOrigin(OriginValidator):
    """Lets pages of our own hosts in, and programs. Every browser says where its page is from; a program says nothing,
    and no page of a stranger's can make it send our cookie.
    """

    def valid_origin(self, parsed_origin: ParseResult | None) -> bool:
        return parsed_origin is None or bool(self.validate_origin(parsed_origin))


async def may_look(scope: Mapping[str, Any]) -> bool:
    """Every account may see every run; one that was closed or logged out, or whose token was revoked, may see none."""
    header = dict(scope["headers"]).get(b"authorization", b"")
    if header[: len(PREFIX)].lower() == PREFIX:
        return await database_sync_to_async(_opens)(header[len(PREFIX) :].strip())
    user = await get_user(scope)
    return bool(user.is_authenticated and user.is_active)


def _opens(token: bytes) -> bool:
    try:
        BearerAuthentication().authenticate_credentials(token)
    except AuthenticationFailed:
        return False
    return True
