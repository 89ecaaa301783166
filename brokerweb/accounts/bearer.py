"""Authentication of the REST API by token."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import timezone
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from brokerweb.accounts.models import Token
from brokerweb.kit.no_wait import no_wait

EVERY = timedelta(minutes=1)


class BearerAuthentication(TokenAuthentication):
    """``Authorization: Bearer <token>``. Looked up once per request, for both throttle and view."""

    def authenticate(self, request: Request | HttpRequest) -> Any:
        asked: Any = getattr(request, "_request", request)
        if not hasattr(asked, "bearer"):
            asked.bearer = super().authenticate(request)
        return asked.bearer

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        found = super().authenticate_credentials(token)
        _used(found[1], timezone.now())
        return found


def _used(token: Token, now: datetime) -> None:
    """Note the use, at most once a minute, without waiting for another transaction. No request fails because of it."""
    if token.last_used is not None and now - token.last_used < EVERY:
        return
    with suppress(DatabaseError, OSError), no_wait():
        Token.objects.filter(pk=token.pk).update(last_used=now)
