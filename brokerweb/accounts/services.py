"""What can be done with accounts and tokens. Pages, REST, the admin and commands are doors to this."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from brokerweb.accounts.models import Scope, Token
from brokerweb.secret import write_private
from overlay.errors import InvalidSetting

MAX_TOKENS = 50
OPERATOR = "operator"


def make_token(user: User, *, name: str = "", scope: str = Scope.WRITE) -> tuple[Token, str]:
    """A new token and its text, which nobody can read again. Raises ``InvalidSetting``."""
    if scope not in Scope.values:
        raise InvalidSetting("scope", f"must be one of {', '.join(Scope.values)}, not {scope!r:.40}")
    if len(name) > 100 or not (name.isprintable() or not name):
        raise InvalidSetting("name", "must be at most 100 printable characters")
    if tokens_of(user).count() >= MAX_TOKENS:
        raise InvalidSetting("token", f"an account has at most {MAX_TOKENS} tokens; revoke one first")
    token, text = Token.objects.create(user=user, name=name, scope=scope)
    return token, text


def tokens_of(user: User) -> QuerySet[Token]:
    """A user's own tokens, newest first."""
    return Token.objects.filter(user=user)


def revoke(token: Token) -> None:
    """The token opens nothing any more."""
    token.delete()


def make_operator() -> User:
    """The operator of a fresh house, with a password nobody chose, kept in ``var/operator.json`` (mode 0600)."""
    kept = Path(settings.VAR) / "operator.json"
    user = User.objects.filter(username=OPERATOR).first()
    if user is not None:
        return user
    password = secrets.token_urlsafe(12)
    write_private(kept, json.dumps({"username": OPERATOR, "password": password}))
    return User.objects.create_superuser(OPERATOR, password=password)
