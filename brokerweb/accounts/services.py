"""What can be done with accounts and tokens. Pages, REST, the admin and commands are doors to this."""

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
from overlay.core.errors import InvalidSetting

MAX_TOKENS = 50
"""Of one account: those of a script that makes one whenever it runs do not pile up."""
OPERATOR = "operator"


def make_token(user: User, *, name: str = "", scope: str = Scope.WRITE) -> tuple[Token, str]:
    """A new token and its text, which nobody can read again. Raises ``InvalidSetting``.

    Where the account has ``MAX_TOKENS`` the expired ones make room and, if there are none, the oldest.
    """
    if scope not in Scope.values:
        raise InvalidSetting("scope", f"must be one of {', '.join(Scope.values)}, not {scope!r:.40}")
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
