"""Permissions of the REST API: authenticated users read, operators write, read-only tokens never write."""

from typing import Any

from django.http import HttpRequest
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from brokerweb.accounts.models import Scope, Token


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


class OperatorWrites(BasePermission):
    """Reading needs authentication. Writing needs an operator and, with a token, a read-write one."""

    def has_permission(self, request: Request, view: object) -> bool:
        user = request.user
        if not (user and user.is_authenticated and user.is_active):
            return False
        if request.method in SAFE_METHODS:
            return True
        if isinstance(request.auth, Token) and request.auth.scope != Scope.WRITE:
            self.message = "This token is read-only. Create a read-write token to make changes."
            return False
        self.message = "This account is read-only. Changes need the operator role."
        return bool(user.is_staff)
