"""Use cases of accounts and tokens, called by pages, REST, the admin and commands."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from brokerweb.accounts.asking import access_of, shown_networks
from brokerweb.accounts.models import Scope, Token, all_networks
from brokerweb.changelog.recording import CREATE, recorded, subject
from overlay.core.errors import InvalidSetting, shown
from overlay.runtime.private_files import write_private

MAX_TOKENS = 50
"""Per account. A limit, so that a script that creates a token on every run does not accumulate them."""
DAYS, MOST_DAYS = 90, 365
"""Days until a token expires, if its owner chooses none, and at most."""
MOST_NETWORKS = 100
"""Networks that a token is limited to."""
LOGGED = ("name", "token_key", "scope", "networks", "expiry")
"""What the change log says of a token; its text and digest are secret."""
OPERATOR = "operator"


def _state(token: Token) -> dict[str, Any]:
    return {**{name: getattr(token, name) for name in LOGGED}, "of": token.user.get_username()}


subject(Token, "token", state=_state, key="id")


def make_token(
    user: User,
    *,
    name: str = "",
    scope: str = Scope.WRITE,
    networks: Sequence[str] | None = None,
    days: int = DAYS,
) -> tuple[Token, str]:
    """Create a token; return it with its text, which cannot be read again. Raises ``InvalidSetting``.

    ``networks``: ids of the networks that it is limited to; ``None``: everything that the account may do. An account
    that has ``MAX_TOKENS`` loses its expired tokens or, if there are none, its oldest one.
    """
    if scope not in Scope.values:
        raise InvalidSetting("scope", f"must be one of {', '.join(Scope.values)}, not {shown(scope, 40)}")
    if len(name) > 100 or not (name.isprintable() or not name):
        raise InvalidSetting("name", "must be at most 100 printable characters")
    if not 1 <= days <= MOST_DAYS:
        raise InvalidSetting("days", f"must be a whole number from 1 to {MOST_DAYS}, not {shown(days, 40)}")
    limit = None if networks is None else _limit(user, networks)
    with recorded(CREATE, by=user) as record:
        _make_room(user)
        token, text = Token.objects.create(
            user=user, name=name, scope=scope, networks=limit, expiry=timedelta(days=days)
        )
        record.row = token
    return token, text


def _limit(user: User, ids: Sequence[str]) -> list[str]:
    """The networks of a limited token, each one that the account may see. Raises ``InvalidSetting``."""
    if not 1 <= len(ids) <= MOST_NETWORKS:
        raise InvalidSetting("networks", f"must name 1 to {MOST_NETWORKS} networks, or be left out for no limit")
    seen = shown_networks(all_networks().filter(pk__in=ids), access_of(user))
    found = set(seen.values_list("pk", flat=True))
    if missing := [one for one in ids if one not in found]:
        raise InvalidSetting("networks", f"unknown id {shown(missing[0], 40)}")
    return sorted(found)


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
    with recorded("revoke", token):
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
