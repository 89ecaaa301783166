"""Who opens a websocket: a browser with its session, or a program with a token, as everywhere in REST."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from rest_framework.exceptions import AuthenticationFailed

from brokerweb.accounts.bearer import BearerAuthentication

PREFIX = b"bearer "
PORTS = {"http": 80, "https": 443}
Application = Callable[..., Awaitable[Any]]


class OwnOrigin:
    """Admits pages of this origin, and programs. Every browser says where its page is from; a program says nothing,
    and no page of another origin can make it send our cookie.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: MutableMapping[str, Any], *channels: Any) -> Any:
        application = self._application if is_own(scope) else WebsocketDenier()
        return await application(scope, *channels)


def is_own(scope: Mapping[str, Any]) -> bool:
    """Whether the page that opens a websocket is of the scheme, host and port that it connects to, the host being one
    of ``ALLOWED_HOSTS``. Without an ``Origin`` header there is no page.
    """
    headers = dict(scope["headers"])
    if b"origin" not in headers:
        return True
    host = headers.get(b"host", b"").decode("latin1")
    scheme = "https" if settings.HTTPS or scope.get("scheme") == "wss" else "http"
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    own, origin = _origin(f"{scheme}://{host}"), _origin(headers[b"origin"].decode("latin1"))
    return own is not None and own == origin


def _origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; ``None`` for what is no web address, such as ``null``."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None


async def may_look(scope: Mapping[str, Any]) -> bool:
    """Whether the session or token still opens the door, as the database says now: every account may see every run; one
    that was deleted, closed or logged out, whose password was changed or whose token was revoked, may see none.
    """
    header = dict(scope["headers"]).get(b"authorization", b"")
    if header[: len(PREFIX)].lower() == PREFIX:
        return await database_sync_to_async(_opens)(header[len(PREFIX) :].strip())
    # A session remembers what it once read, so that a log-out elsewhere would go unseen: it is read again.
    session = import_module(settings.SESSION_ENGINE).SessionStore(scope["session"].session_key)
    user = await get_user({**scope, "session": session})
    return bool(user.is_authenticated and user.is_active)


def _opens(token: bytes) -> bool:
    try:
        BearerAuthentication().authenticate_credentials(token)
    except AuthenticationFailed:
        return False
    return True
