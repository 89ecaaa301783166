"""Authentication of websockets: browsers by session, programs by token, as in REST."""

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
    """Admits pages of this origin, and programs. Browsers always send the origin; programs send none, and a page of
    another origin cannot make them send our cookie.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: MutableMapping[str, Any], *channels: Any) -> Any:
        application = self._application if is_own(scope) else WebsocketDenier()
        return await application(scope, *channels)


def is_own(scope: Mapping[str, Any]) -> bool:
    """Whether the page's scheme, host and port are those it connects to, and the host is in ``ALLOWED_HOSTS``.
    Without an ``Origin`` header there is no page.
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
    """Scheme, host and port; ``None`` for values such as ``null``."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None


async def may_look(scope: Mapping[str, Any]) -> bool:
    """Whether the session or token is still valid in the database. Every active account may view every run, until it
    is deleted or deactivated, logs out, changes its password or has its token revoked.
    """
    header = dict(scope["headers"]).get(b"authorization", b"")
    if header[: len(PREFIX)].lower() == PREFIX:
        return await database_sync_to_async(_opens)(header[len(PREFIX) :].strip())
    # A session caches its data and would miss a logout elsewhere, so it is read again.
    session = import_module(settings.SESSION_ENGINE).SessionStore(scope["session"].session_key)
    user = await get_user({**scope, "session": session})
    return bool(user.is_authenticated and user.is_active)


def _opens(token: bytes) -> bool:
    try:
        BearerAuthentication().authenticate_credentials(token)
    except AuthenticationFailed:
        return False
    return True
