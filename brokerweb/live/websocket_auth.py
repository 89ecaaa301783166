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

from brokerweb.accounts.asking import access_of
from brokerweb.accounts.bearer import BearerAuthentication
from brokerweb.accounts.rights import Operation, refusal

NOT_LOGGED_IN, NOT_ALLOWED = 4401, 4403
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


async def refused(scope: Mapping[str, Any]) -> int:
    """The close code for someone who may not view runs; 0 for others. Asked again and again while a page is open.

    4401: the session or token is not, or no longer, valid in the database (log-out, password change, revocation).
    4403: the account or token may not view runs.
    """
    header = dict(scope["headers"]).get(b"authorization", b"")
    if header[: len(PREFIX)].lower() == PREFIX:
        return await database_sync_to_async(_of_token)(header[len(PREFIX) :].strip())
    # A session caches its data and would miss a logout elsewhere, so it is read again.
    session = import_module(settings.SESSION_ENGINE).SessionStore(scope["session"].session_key)
    user = await get_user({**scope, "session": session})
    return await database_sync_to_async(_code)(user)


def _of_token(text: bytes) -> int:
    try:
        user, token = BearerAuthentication().authenticate_credentials(text)
    except AuthenticationFailed:
        return NOT_LOGGED_IN
    return _code(user, token)


def _code(user: Any, token: Any = None) -> int:
    access = access_of(user, token)
    if access.role is None:
        return NOT_LOGGED_IN
    return NOT_ALLOWED if refusal(access, Operation.READ) else 0
