"""Authentication of the REST API by token."""

from typing import Any

from django.http import HttpRequest
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request


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
        return super().authenticate_credentials(token)
