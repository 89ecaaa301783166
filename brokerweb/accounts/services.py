"""Use cases of accounts and tokens, called by pages, REST, the admin and commands."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from brokerweb.accounts.models import Scope, Token
from brokerweb.secret import write_private
from overlay.core.errors import InvalidSetting, shown

MAX_TOKENS = 50
"""Per account. A limit, so that a script that creates a token on every run does not accumulate them."""
OPERATOR = "operator"


def make_token(user: User, *, name: str = "", scope: str = Scope.WRITE) -> tuple[Token, str]:
    """Create a token; return it with its text, which cannot be read again. Raises ``InvalidSetting``.

    An account that has ``MAX_TOKENS`` loses its expired tokens or, if there are none, its oldest one.
    """
    if scope not in Scope.values:
        raise InvalidSetting("scope", f"must be one of {', '.join(Scope.values)}, not {shown(scope, 40)}")
    if len(name) > 100 or not (name.isprintable() or not name):
        raise InvalidSetting("name", "must be at most 100 printable characters")
    with transaction.atomic():
        _make_room(user)
        token, text = Token.objects.create(user=user, name=name, scope=scope)
    return token, text


def _make_room(user: User) -> None:
    if tokens_of(user).count() < MAX_TOKENS:
        return
    tokens_of(user).filter(expiry__lt=timezone.now()).delete()
    for token in tokens_of(user)[MAX_TOKENS - 1 :]:
        revoke(token)


def tokens_of(user: User) -> QuerySet[Token]:
    """The user's tokens, newest first."""
    return Token.objects.filter(user=user)


def revoke(token: Token) -> None:
    """Revoke the token."""
    token.delete()


def make_operator() -> User:
    """Create the operator of a new installation with a random password, stored in ``var/operator.json`` (mode 0600)."""
    kept = Path(settings.VAR) / "operator.json"
    user = User.objects.filter(username=OPERATOR).first()
    if user is not None:
        return user
    password = secrets.token_urlsafe(12)
    write_private(kept, json.dumps({"username": OPERATOR, "password": password}))
    return User.objects.create_superuser(OPERATOR, password=password)
