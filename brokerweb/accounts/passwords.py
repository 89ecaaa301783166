"""What follows from a new password, or from none, wherever it is set: the account page, the admin or a command.

Sessions, and the websockets that were opened with them, end by Django's own doing: both carry its digest.
Tokens, and the websockets that were opened with one, end here.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import AbstractBaseUser, User
from django.db.models.signals import pre_save
from django.dispatch import receiver

from brokerweb.accounts.models import Token


class EndsTokens:
    """Tokens that were made under the old password open nothing any more.

    One of ``AUTH_PASSWORD_VALIDATORS``: Django calls them once a password has been changed, and not where it merely
    stores the same one under a newer hash. It demands nothing of a password.
    """

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None: ...

    def get_help_text(self) -> str:
        return "A new password ends the account’s other sessions and revokes its tokens."

    def password_changed(self, password: str, user: AbstractBaseUser) -> None:
        Token.objects.filter(user=user.pk).delete()


@receiver(pre_save, sender=User)
def end_tokens_of_who_has_no_password_any_more(
    sender: type[User], instance: User, update_fields: Any = None, **sent: Any
) -> None:
    """``set_unusable_password``, the admin's switch "disabled" too: Django tells no validator of it.

    Tokens that a program was given after that, for an account that never logs in, are left when the account is saved.
    """
    if instance.has_usable_password() or (update_fields is not None and "password" not in update_fields):
        return
    before = User.objects.filter(pk=instance.pk).values_list("password", flat=True).first()
    if before is not None and is_password_usable(before):
        Token.objects.filter(user=instance.pk).delete()
