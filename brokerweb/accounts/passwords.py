"""Consequences of a password change, however it is made: on the account page, in the admin or by a command.

Django ends sessions and their websockets itself, because both carry the password's digest. This module revokes tokens,
which also ends their websockets.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction
from django.db.models.signals import pre_save
from django.dispatch import receiver

from brokerweb.accounts.models import Token
from brokerweb.accounts.services import revoke
from brokerweb.changelog.recording import say


class EndsTokens:
    """Revokes tokens that were created before a password change.

    One of ``AUTH_PASSWORD_VALIDATORS``: Django calls them after a password change, but not when it only upgrades the
    hash. Accepts every password.
    """

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None: ...

    def get_help_text(self) -> str:
        return "Changing the password ends the account’s other sessions and revokes its tokens."

    def password_changed(self, password: str, user: AbstractBaseUser) -> None:
        _end_tokens(user, "change password")


def _end_tokens(user: Any, action: str) -> None:
    with transaction.atomic():
        tokens = list(Token.objects.filter(user=user.pk))
        for token in tokens:
            revoke(token)
        say("account", user.pk, user.get_username(), action, after={"tokens_revoked": len(tokens)}, by=user)


@receiver(pre_save, sender=User)
def end_tokens_without_password(sender: type[User], instance: User, update_fields: Any = None, **sent: Any) -> None:
    """Handles ``set_unusable_password`` (also the admin's switch "disabled"), for which Django calls no validator.

    Tokens that a program gets afterwards, for an account that never logs in, are kept when the account is saved.
    """
    if instance.has_usable_password() or (update_fields is not None and "password" not in update_fields):
        return
    before = User.objects.filter(pk=instance.pk).values_list("password", flat=True).first()
    if before is not None and is_password_usable(before):
        _end_tokens(instance, "disable password")
