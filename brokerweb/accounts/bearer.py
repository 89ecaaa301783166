"""Who may do what through REST: the logged-in read, operators write, and a read-only token never writes."""

from typing import Any

from django.http import HttpRequest
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from brokerweb.accounts.models import Scope, Token


class BearerAuthentication(TokenAuthentication):
    """``Authorization: Bearer <token>``. Looked up once a request, though its throttle and its view both ask."""

    def authenticate(self, request: Request | HttpRequest) -> Any:
        asked: Any = getattr(request, "_request", request)
        if not hasattr(asked, "bearer"):
            asked.bearer = super().authenticate(request)
        return asked.bearer

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)


class OperatorWrites(BasePermission):
    """Reading needs a log-in; changing needs an operator and, with a token, one that is read-write."""

    def has_permission(self, request: Request, view: object) -> bool:
        user = request.user
        if not (user and user.is_authenticated and user.is_active):
            return False
        if request.method in SAFE_METHODS:
            return True
        if isinstance(request.auth, Token) and request.auth.scope != Scope.WRITE:
            self.message = "This token is read-only; make a read-write one to change things."
            return False
        self.message = "Only operators change things; this account may look."
        return bool(user.is_staff)
