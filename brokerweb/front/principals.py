"""Who asks, and may they. Read from the database at most once a second per token or session and network.

A token that is revoked, or a session that ends, is refused within ``fresh.LASTS_S``. Whoever may not is passed on to
Django, which says why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from rest_framework.exceptions import AuthenticationFailed

from brokerweb.accounts import rights
from brokerweb.accounts.asking import access_of
from brokerweb.accounts.bearer import BearerAuthentication
from brokerweb.accounts.models import Token
from brokerweb.accounts.rights import Operation


class Credentials(NamedTuple):
    """What a request shows, and what for."""

    authorization: str
    """The header of this name."""
    session: str
    """The session's cookie."""
    network: str
    is_write: bool


_COOKIE = re.compile(r"(?:^|;)\s*" + re.escape(settings.SESSION_COOKIE_NAME) + r"=([^;]*)")
LONGEST_CREDENTIALS = 256
"""Of a token's header, and of a session's cookie. What is shown is kept, also if it is wrong."""


def credentials(headers: Mapping[str, str], network: str, is_write: bool = False) -> Credentials | None:
    """What the headers, by lower-case name, show; ``None`` if nothing, or longer than any token or session."""
    cookie, authorization = headers.get("cookie"), headers.get("authorization", "")
    found = _COOKIE.search(cookie) if cookie else None
    session = found[1].strip() if found else ""
    if not (session or authorization) or max(len(session), len(authorization)) > LONGEST_CREDENTIALS:
        return None
    return Credentials(authorization, session, network, is_write)


@dataclass(frozen=True, slots=True)
class Principal:
    """One who may read, or write, a network."""

    who: str
    """Whose requests are counted: ``token:ID`` or ``user:ID``."""
    account: str
    """The user's id."""
    is_session: bool
    """A browser, whose changes need a token of the page as well."""


def authorize(shown: Credentials) -> Principal | None:
    """From the database; ``None``: not admitted."""
    found = _account(shown)
    if found is None:
        return None
    user, token = found
    operation = Operation.PROVIDE if shown.is_write else Operation.READ
    if rights.refusal(access_of(user, token), operation, shown.network, is_safe=not shown.is_write):
        return None
    return Principal(who_is(user, token), str(user.pk), token is None)


def who_shows(shown: Credentials) -> str:
    """From the database: whose they are, whatever it may do; empty: of no account."""
    found = _account(shown)
    return who_is(*found) if found is not None else ""


def who_is(user: Any, token: Any) -> str:
    """As ``Principal.who``. ``token``: what a request is authenticated by, if that is a token."""
    return f"token:{token.id}" if isinstance(token, Token) else f"user:{user.pk}"


def _account(shown: Credentials) -> tuple[Any, Any] | None:
    """User and token, as ``REST_FRAMEWORK`` authenticates them: the token, if there is one, else the session."""
    request = HttpRequest()
    request.META["HTTP_AUTHORIZATION"] = shown.authorization
    try:
        found = BearerAuthentication().authenticate(request)
    except AuthenticationFailed:
        return None
    if found is not None:
        return found[0], found[1]
    if not shown.session:
        return None
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(shown.session)
    user = get_user(request)
    return (user, None) if user.is_authenticated and user.is_active else None
