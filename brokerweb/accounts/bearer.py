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
        refused = refusal(user, request.auth, is_write=request.method not in SAFE_METHODS)
        if refused:
            self.message = refused
        return not refused


def refusal(user: Any, token: Any, *, is_write: bool) -> str:
    """Why an active account with this token (``None``: a session) may not read or write; empty if it may."""
    if not is_write:
        return ""
    if isinstance(token, Token) and token.scope != Scope.WRITE:
        return "This token is read-only. Create a read-write token to make changes."
    return "" if user.is_staff else "This account is read-only. Changes need the operator role."
